import type { Authenticator } from "../../server/authenticator.ts";
import type { Bus } from "../../server/bus/contract.ts";
import { localBus } from "../../server/bus/local.ts";
import { limitsWith, type RelayLimits } from "../../server/limits.ts";
import { nodeTimeBox } from "../../server/node-env.ts";
import { RelayCore } from "../../server/relay-core.ts";
import type { ConnectionInfo, Receiver } from "../../server/relay-services.ts";
import type { RelayStorage } from "../../server/storage/contract.ts";
import { memoryStorage } from "../../server/storage/memory.ts";
import { type Reporter, silentReporter } from "../../src/env/reporter.ts";
import { TestClock } from "../../src/testing/clock.ts";
import { seededRandom } from "../../src/testing/random.ts";
import { readChannelFrame } from "../../src/wire/binary.ts";
import type { ClientFrame } from "../../src/wire/client-frames.ts";
import { readRelayFrame } from "../../src/wire/codec.ts";
import { PROTOCOL_VERSION } from "../../src/wire/hello.ts";
import type { RelayFrame } from "../../src/wire/relay-frames.ts";

type FrameOf<Type extends RelayFrame["type"]> = Extract<RelayFrame, { type: Type }>;

/** A relay in one process, and raw clients of it that say exactly what a test says. */
export interface TestRelay {
  readonly core: RelayCore;
  readonly clock: TestClock;
  readonly storage: RelayStorage;
  /** A connection that has said nothing. */
  connect(info?: Partial<ConnectionInfo>): RawClient;
  /** One that has been welcomed as this actor. */
  client(actor?: string): Promise<RawClient>;
  /** Lets everything run that is ready. */
  settle(): Promise<void>;
}

export interface TestRelayOptions {
  readonly storage?: RelayStorage;
  readonly bus?: Bus;
  readonly limits?: Partial<RelayLimits>;
  readonly authenticate?: Authenticator;
  readonly origins?: readonly string[];
  readonly clock?: TestClock;
  readonly seed?: number;
  readonly tokenInUrl?: boolean;
  readonly reporter?: Reporter;
}

export async function testRelay(options: TestRelayOptions = {}): Promise<TestRelay> {
  const { storage = memoryStorage(), bus = localBus(), clock = new TestClock(), seed = 1 } = options;
  const environment = {
    clock,
    random: seededRandom(seed),
    reporter: options.reporter ?? silentReporter,
    timeBox: nodeTimeBox,
  };
  const core = await RelayCore.open({
    environment,
    storage,
    bus,
    limits: limitsWith(options.limits),
    authenticate: options.authenticate,
    origins: options.origins,
    tokenInUrl: options.tokenInUrl,
  });
  const settle = (): Promise<void> => clock.advance(0);
  const connect = (info: Partial<ConnectionInfo> = {}): RawClient => new RawClient(core, settle, info);
  return {
    core,
    clock,
    storage,
    connect,
    settle,
    client: async (actor = "ann") => {
      const client = connect();
      await client.hello(actor);
      return client;
    },
  };
}

export class RawClient {
  readonly #receiver: Receiver;
  readonly #settle: () => Promise<void>;
  readonly frames: RelayFrame[] = [];
  readonly binary: { channel: number; message: Uint8Array }[] = [];
  /** What came as it came, for stock connections. */
  readonly bytes: Uint8Array[] = [];
  /** Types of all that came, in order; binary frames as `binary`. */
  readonly order: string[] = [];
  closed: { code: number; reason: string } | undefined;
  onBytes: ((bytes: Uint8Array) => void) | undefined;
  onClose: ((closed: { code: number; reason: string }) => void) | undefined;
  buffered = 0;
  paused = false;

  constructor(core: RelayCore, settle: () => Promise<void>, info: Partial<ConnectionInfo>) {
    this.#settle = settle;
    const client = this;
    this.#receiver = core.accept(
      {
        send: (data) => client.#heard(data),
        close: (code = 1005, reason = "") => {
          if (client.closed !== undefined) return;
          client.closed = { code, reason };
          client.onClose?.(client.closed);
        },
        get bufferedBytes() {
          return client.buffered;
        },
        pause: () => {
          client.paused = true;
        },
        resume: () => {
          client.paused = false;
        },
      },
      { url: "/", ...info },
    );
  }

  say(frame: ClientFrame | { type: string; [field: string]: unknown }): void {
    this.sayRaw(JSON.stringify(frame));
  }

  sayRaw(data: string | Uint8Array): void {
    if (this.closed === undefined) this.#receiver.received(data);
  }

  /** Says it, lets everything run, and answers what came back to it. */
  async ask(frame: ClientFrame | { type: string; [field: string]: unknown }): Promise<RelayFrame[]> {
    const before = this.frames.length;
    this.say(frame);
    await this.#settle();
    return this.frames.slice(before);
  }

  /** The one frame of this type that the question brings. */
  async expect<Type extends RelayFrame["type"]>(
    type: Type,
    frame: ClientFrame | { type: string; [field: string]: unknown },
  ): Promise<FrameOf<Type>> {
    const found = (await this.ask(frame)).filter((one): one is FrameOf<Type> => one.type === type);
    if (found.length !== 1 || found[0] === undefined) {
      const told = JSON.stringify(this.frames.slice(-5)).slice(0, 1000);
      throw new Error(`Expected one ${type}, got ${found.length}; the last frames: ${told}`);
    }
    return found[0];
  }

  hello(actorId: string, token?: string): Promise<RelayFrame[]> {
    return this.ask({
      type: "hello",
      protocol: PROTOCOL_VERSION,
      actorId,
      device: "test",
      ...(token === undefined ? {} : { token }),
    });
  }

  of<Type extends RelayFrame["type"]>(type: Type): FrameOf<Type>[] {
    return this.frames.filter((frame): frame is FrameOf<Type> => frame.type === type);
  }

  drop(): void {
    this.closed ??= { code: 1006, reason: "" };
    this.onClose?.(this.closed);
    this.#receiver.closed();
  }

  #heard(data: string | Uint8Array): void {
    if (this.closed !== undefined) return;
    if (typeof data !== "string") {
      this.bytes.push(data);
      this.onBytes?.(data);
      this.order.push("binary");
      const frame = readChannelFrame(data);
      if (frame !== undefined) this.binary.push(frame);
      return;
    }
    const read = readRelayFrame(data);
    if (!read.ok)
      throw new Error(`The relay said what the protocol does not know: ${read.fault.message}\n${data}`);
    this.frames.push(read.frame);
    this.order.push(read.frame.type);
  }
}
