import { isValidId } from "../src/model/ids.ts";
import type { ClientFrame } from "../src/wire/client-frames.ts";
import type { Unreadable } from "../src/wire/codec.ts";
import { readClientFrame } from "../src/wire/read-client-frame.ts";
import type { RelayLimits } from "./limits.ts";
import { fits } from "./op-intake.ts";
import { type Joined, type Joining, joinPart, NOTHING_JOINED } from "./parts.ts";
import { type FaultTold, notAnsweredText, type OpName, refusalText } from "./relay-frames.ts";

/** What a text from a client comes to (rules P8, P10, P11). */
export type Incoming =
  | { readonly is: "frame"; readonly frame: Exclude<ClientFrame, { type: "part" }>; readonly text: string }
  /** It could not be read, but this can be said to it, and the connection goes on. */
  | { readonly is: "answered"; readonly answer: string }
  | { readonly is: "piece" }
  | { readonly is: "fault"; readonly fault: FaultTold };

/** Reads one connection's text frames, and joins those that came in parts. */
export class FrameReader {
  readonly #limits: Pick<RelayLimits, "maxFrameBytes" | "maxOpBytes">;
  #joining: Joining = NOTHING_JOINED;

  constructor(limits: Pick<RelayLimits, "maxFrameBytes" | "maxOpBytes">) {
    this.#limits = limits;
  }

  read(text: string): Incoming {
    const { maxFrameBytes, maxOpBytes } = this.#limits;
    if (!fits(text, maxFrameBytes)) return tooLarge("maxFrameBytes", maxFrameBytes, "unnamed");
    const read = readClientFrame(text);
    if (read.ok && read.frame.type === "part") {
      const joined = joinPart(this.#joining, read.frame, maxOpBytes);
      this.#joining = joined.joining;
      return this.#comeTo(joined);
    }
    this.#joining = NOTHING_JOINED;
    return incoming(read, text);
  }

  #comeTo(joined: Joined): Incoming {
    if ("malformed" in joined) {
      return { is: "fault", fault: { code: "malformed", message: joined.malformed } };
    }
    if ("tooLong" in joined) return tooLarge("maxOpBytes", this.#limits.maxOpBytes, joined.tooLong);
    return "text" in joined ? incoming(readClientFrame(joined.text), joined.text) : { is: "piece" };
  }
}

function incoming(read: ReturnType<typeof readClientFrame>, text: string): Incoming {
  if (!read.ok) return unreadable(read.fault);
  const { frame } = read;
  if (frame.type !== "part") return { is: "frame", frame, text };
  return { is: "fault", fault: { code: "malformed", message: "A part within parts" } };
}

function unreadable({ code, message, op, id }: Unreadable): Incoming {
  if (op !== undefined) {
    if (canBeNamed(op)) return { is: "answered", answer: refusalText(op, { code, message }) };
  } else if (isValidId(id)) return { is: "answered", answer: notAnsweredText(id, code, message) };
  return { is: "fault", fault: { code, message } };
}

function tooLarge(name: string, max: number, op: OpName | "unnamed"): Incoming {
  const fault = { code: "too-large", message: `The limit ${name} is ${max}`, limit: { name, max } } as const;
  if (op === "unnamed" || !canBeNamed(op)) return { is: "fault", fault };
  return { is: "answered", answer: refusalText(op, fault) };
}

/** A refusal names its op only by ids that a refusal may hold. */
function canBeNamed({ opId, session }: OpName): boolean {
  return isValidId(opId) && isValidId(session);
}
