import type { Part } from "../src/wire/client-asks.ts";
import { utf8Bytes } from "../src/wire/codec.ts";
import type { OpName } from "./relay-frames.ts";

/** What a connection's parts add up to so far (rule P11). */
export type Joining =
  | { readonly at: "none" }
  | {
      readonly at: "joining";
      readonly id: string;
      readonly of: number;
      readonly texts: string[];
      readonly bytes: number;
    }
  /** Too long already: the rest is read and let go, so that the connection can go on. */
  | { readonly at: "skipping"; readonly id: string; readonly of: number; readonly next: number };

export type Joined =
  | { readonly joining: Joining }
  | { readonly joining: Joining; readonly text: string }
  | { readonly joining: Joining; readonly tooLong: OpName | "unnamed" }
  | { readonly joining: Joining; readonly malformed: string };

export const NOTHING_JOINED: Joining = { at: "none" };

/** Takes one part. Anything else in between ends the series: then the next state is {@link NOTHING_JOINED}. */
export function joinPart(state: Joining, part: Part, maxBytes: number): Joined {
  const { id, index, of, text } = part;
  if (index >= of) return { joining: NOTHING_JOINED, malformed: "A part's index is past its series" };
  if (index === 0) return add({ at: "joining", id, of, texts: [], bytes: 0 }, text, maxBytes);
  if (state.at === "none" || state.id !== id || state.of !== of) {
    return { joining: NOTHING_JOINED, malformed: "A part without those before it" };
  }
  if (state.at === "skipping") {
    if (index !== state.next) return { joining: NOTHING_JOINED, malformed: "A part out of order" };
    return { joining: index + 1 === of ? NOTHING_JOINED : { ...state, next: index + 1 } };
  }
  if (index !== state.texts.length) return { joining: NOTHING_JOINED, malformed: "A part out of order" };
  return add(state, text, maxBytes);
}

function add(state: Extract<Joining, { at: "joining" }>, text: string, maxBytes: number): Joined {
  const bytes = state.bytes + utf8Bytes(text);
  const { id, of, texts } = state;
  if (bytes > maxBytes) {
    const next = texts.length + 1;
    const joining: Joining = next === of ? NOTHING_JOINED : { at: "skipping", id, of, next };
    return { joining, tooLong: nameIn(texts[0] ?? text) };
  }
  texts.push(text);
  if (texts.length === of) return { joining: NOTHING_JOINED, text: texts.join("") };
  return { joining: { ...state, bytes: bytes + PART_COST } };
}

// So that a series of empty parts, too, comes to its limit.
const PART_COST = 16;

/** The op's names, where the beginning of its text shows them: clients write them first. */
function nameIn(beginning: string): OpName | "unnamed" {
  const start = beginning.slice(0, 2048);
  const opId = /"opId":("(?:[^"\\]|\\.)*")/.exec(start)?.[1];
  const session = /"session":("(?:[^"\\]|\\.)*")/.exec(start)?.[1];
  if (opId === undefined || session === undefined) return "unnamed";
  try {
    return { opId: JSON.parse(opId), session: JSON.parse(session) };
  } catch {
    return "unnamed"; // Not JSON: there is no op to name.
  }
}
