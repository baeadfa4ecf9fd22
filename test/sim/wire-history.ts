import { DEFAULT_LIMITS } from "../../server/limits.ts";
import type { Head } from "../../src/model/revision.ts";
import type { TestFrame } from "../../src/testing/network.ts";
import { FAULTS, type FaultCode } from "../../src/wire/fault.ts";
import type { AppendCall } from "./linearizable.ts";

/** Said in a message that must never leave its tab (H7). */
export const SECRET = "never to be stored";

type Call = { -readonly [K in keyof AppendCall]: AppendCall[K] };

interface OpFrame {
  readonly type: string;
  readonly opId: string;
  readonly session: string;
  readonly base: Head;
  readonly rebases?: boolean;
  readonly messages: readonly { readonly id: string }[];
  readonly head: Head;
  readonly code: FaultCode;
}

/** The appends of one session as they were seen on the cables, and what must not be seen there. */
export class WireHistory {
  readonly problems: string[] = [];
  readonly #session: string;
  readonly #calls = new Map<string, Call>();

  constructor(session: string) {
    this.#session = session;
  }

  get calls(): readonly AppendCall[] {
    return [...this.#calls.values()];
  }

  /** Takes a frame as it is sent. An answer that is lost on its way is an answer: the relay had said it. */
  saw(client: string, { direction, data }: TestFrame, moment: number): void {
    if (data.length > DEFAULT_LIMITS.maxFrameBytes)
      this.problems.push(`${client} ${direction}: a huge frame`);
    if (typeof data !== "string") return;
    if (data.includes(SECRET)) this.problems.push(`${client} ${direction}: a secret`);
    const kind = /"type":"(append|ack|refusal)"/u.exec(data)?.[1];
    if (kind === undefined) return;
    const frame = JSON.parse(data) as OpFrame;
    if (frame.session !== this.#session) return;
    const call = this.#calls.get(frame.opId);
    if (kind === "append") this.#called(client, frame, moment);
    else if (call === undefined || call.outcome === "acknowledged") return;
    else if (kind === "ack") {
      call.outcome = "acknowledged";
      call.returned = moment;
      call.at = frame.head;
    } else if (isFinal(frame.code, call)) call.outcome = "refused";
  }

  #called(client: string, { opId, base, rebases, messages }: OpFrame, moment: number): void {
    const known = this.#calls.get(opId);
    if (known?.outcome === "refused") known.outcome = "unknown";
    if (known !== undefined) return;
    const ids = messages.map(({ id }) => id);
    const call: Call = { client, ids, invoked: moment, outcome: "unknown" };
    this.#calls.set(opId, rebases === true ? call : { ...call, base });
  }
}

function isFinal(code: FaultCode, { base }: Call): boolean {
  if (code === "conflict") return base !== undefined;
  return FAULTS[code].remedy !== "retry" && FAULTS[code].remedy !== "reauthenticate";
}
