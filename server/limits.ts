import { invalidInput } from "../src/model/errors.ts";
import { isPlainObject } from "../src/model/json.ts";
import type { LimitNamed } from "../src/wire/fault.ts";
import type { WireLimits } from "../src/wire/hello.ts";

/** Everything a relay bounds. Bytes are of UTF-8, or of binary frames. Each is named in the refusal that it causes. */
export interface RelayLimits extends WireLimits {
  /** One message as JSON. */
  readonly maxMessageBytes: number;
  /** One text frame from a client. A binary frame may hold a whole state: `maxStateBytes` and its framing. */
  readonly maxFrameBytes: number;
  /** One op as JSON, also when it came in parts. */
  readonly maxOpBytes: number;
  /** What a session's state may take in storage. */
  readonly maxStateBytes: number;
  /** A session's metadata as JSON. */
  readonly maxMetadataBytes: number;
  /** Messages in one page. */
  readonly pageMessages: number;
  /** Sessions in one page of the catalog. */
  readonly pageEntries: number;
  /** Generations in one list: the newest. */
  readonly maxGenerationsListed: number;
  /** What waits to leave on one socket; beyond it the reader is told to come again. */
  readonly maxBufferedBytes: number;
  /** What came in on one socket and waits its turn; beyond it the socket is not read. */
  readonly maxQueuedBytes: number;
  /** Likewise, in frames. */
  readonly maxQueuedFrames: number;
  readonly maxSocketsPerActor: number;
  /** Living sessions. */
  readonly maxSessionsPerActor: number;
  /** Channels open at one time on one connection. */
  readonly maxChannelsPerSocket: number;
  /** One client's presence on a channel. */
  readonly maxPresenceBytes: number;
  /** Messages in the making that one connection writes at a time. */
  readonly maxStreamsPerSocket: number;
  /** The text of one of them. */
  readonly maxStreamBytes: number;
  /** What a socket may send before it is welcome. */
  readonly maxHelloBytes: number;
  /** From the connection to the welcome, in milliseconds. */
  readonly authTimeoutMs: number;
  /** How long a reader may take none of what waits for it, in milliseconds. */
  readonly sendTimeoutMs: number;
  /** How long others wait for one whose op was refused because they were faster, in milliseconds. */
  readonly turnMs: number;
  /** How long taking in one state update may keep the relay busy, in milliseconds. */
  readonly stateCheckMs: number;
  /** How often sockets are asked whether they live, in milliseconds. */
  readonly pingIntervalMs: number;
}

const KiB = 1024;
const MiB = 1024 * KiB;

/** What holds where `createRelay` is given no other limit. */
export const DEFAULT_LIMITS: RelayLimits = Object.freeze({
  maxMessageBytes: MiB,
  maxFrameBytes: 4 * MiB,
  maxOpBytes: 64 * MiB,
  maxStateBytes: 5 * MiB,
  maxMetadataBytes: 64 * KiB,
  pageMessages: 500,
  pageEntries: 500,
  maxGenerationsListed: 10_000,
  maxBufferedBytes: 8 * MiB,
  maxQueuedBytes: 8 * MiB,
  maxQueuedFrames: 1_024,
  maxSocketsPerActor: 50,
  maxSessionsPerActor: 100_000,
  maxChannelsPerSocket: 1_000,
  maxPresenceBytes: 16 * KiB,
  maxStreamsPerSocket: 32,
  maxStreamBytes: MiB,
  maxHelloBytes: 16 * KiB,
  authTimeoutMs: 10_000,
  sendTimeoutMs: 30_000,
  turnMs: 2_000,
  stateCheckMs: 1_000,
  pingIntervalMs: 30_000,
});

/** A timer for longer runs at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The defaults with what was given over them. @throws InvalidInputError for a name or value that is none. */
export function limitsWith(given: Partial<RelayLimits> | undefined): RelayLimits {
  const whole: unknown = given;
  if (whole !== undefined && !isPlainObject(whole)) throw invalidInput("limits", "must be an object");
  for (const [name, value] of Object.entries(given ?? {})) {
    if (!Object.hasOwn(DEFAULT_LIMITS, name)) throw invalidInput(`limits.${name}`, "is no limit of a relay");
    if (value !== undefined && !(Number.isSafeInteger(value) && value > 0)) {
      throw invalidInput(`limits.${name}`, "must be a whole number above 0");
    }
    if (name.endsWith("Ms") && Number(value) > LONGEST_TIMER_MS) {
      throw invalidInput(`limits.${name}`, `must be at most ${LONGEST_TIMER_MS}`);
    }
  }
  const set = Object.entries(given ?? {}).filter(([, value]) => value !== undefined);
  return Object.freeze({ ...DEFAULT_LIMITS, ...Object.fromEntries(set) });
}

/** Channel number and message types around the state in a binary frame. */
const BINARY_FRAMING_BYTES = 1_024;

/** The longest binary frame: a whole state, and what stands around it (rule P10). */
export function maxBinaryFrameBytes({ maxStateBytes }: Pick<RelayLimits, "maxStateBytes">): number {
  return maxStateBytes + BINARY_FRAMING_BYTES;
}

/** How a limit is named to the one who passed it. */
export function limitTold(name: keyof RelayLimits, max: number): { message: string; limit: LimitNamed } {
  return { message: `The limit ${name} is ${max}`, limit: { name, max } };
}

/** What clients are told of them. */
export function wireLimits(limits: RelayLimits): WireLimits {
  const { maxMessageBytes, maxFrameBytes, maxOpBytes, maxStateBytes, maxMetadataBytes, pageMessages } =
    limits;
  return { maxMessageBytes, maxFrameBytes, maxOpBytes, maxStateBytes, maxMetadataBytes, pageMessages };
}

/** How much of a log goes into one frame (rules P22, P30). */
export function pageBounds(limits: RelayLimits): { maxMessages: number; maxBytes: number } {
  return { maxMessages: limits.pageMessages, maxBytes: Math.ceil(limits.maxFrameBytes / 16) };
}
