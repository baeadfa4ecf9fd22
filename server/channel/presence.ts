import { createDecoder, hasContent, readVarString, readVarUint } from "lib0/decoding";
import { createEncoder, toUint8Array, writeVarString, writeVarUint } from "lib0/encoding";
import type { Ending } from "./seat.ts";

/** One participant's word about one Yjs client: its state as JSON text, `null` when it has left. */
interface Word {
  readonly client: number;
  readonly clock: number;
  readonly state: string;
}

/**
 * Who is there on one channel, by the y-protocols awareness encoding. Kept only to tell newcomers and to say who left;
 * nothing of it is stored or looked into.
 */
export class Presence<Seat> {
  readonly #words = new Map<number, Word & { readonly seat: Seat }>();
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Notes an update. Answers why it cannot be passed on, where it cannot. */
  take(update: Uint8Array, seat: Seat): Ending | undefined {
    const max = this.#maxBytes;
    if (update.byteLength > max) {
      const limit = { name: "maxPresenceBytes", max };
      return { code: "too-large", message: `The limit maxPresenceBytes is ${max}`, limit };
    }
    const words = read(update);
    if (words === undefined) return { code: "malformed", message: "Not an awareness update" };
    const mine = [...this.#words.values()].filter((word) => word.seat === seat).length;
    if (mine + words.filter(({ client }) => !this.#words.has(client)).length > MAX_CLIENTS_PER_SEAT) {
      return { code: "limit-reached", message: "Too many clients behind one channel" };
    }
    for (const word of words) {
      const held = this.#words.get(word.client);
      // Stock providers say again what they heard: whose word it is does not change by that.
      const echo = held?.clock === word.clock && word.state !== GONE;
      if (held !== undefined && (held.clock > word.clock || echo)) continue;
      if (word.state === GONE) this.#words.delete(word.client);
      else this.#words.set(word.client, { ...word, seat });
    }
    return undefined;
  }

  /** Everyone who is there; undefined when nobody is. */
  everyone(): Uint8Array | undefined {
    return this.#words.size === 0 ? undefined : write([...this.#words.values()]);
  }

  /** Forgets what came from this participant. Answers the update that says so; undefined when there was nothing. */
  leave(seat: Seat): Uint8Array | undefined {
    const left = [...this.#words.values()].filter((word) => word.seat === seat);
    for (const { client } of left) this.#words.delete(client);
    if (left.length === 0) return undefined;
    return write(left.map(({ client, clock }) => ({ client, clock: clock + 1, state: GONE })));
  }
}

const GONE = "null";
/** A tab may speak for its other tabs; nobody speaks for a crowd. */
const MAX_CLIENTS_PER_SEAT = 64;

function read(update: Uint8Array): Word[] | undefined {
  try {
    const decoder = createDecoder(update);
    const words: Word[] = [];
    for (let left = readVarUint(decoder); left > 0; left -= 1) {
      const word = {
        client: readVarUint(decoder),
        clock: readVarUint(decoder),
        state: readVarString(decoder),
      };
      JSON.parse(word.state);
      words.push(word);
    }
    return hasContent(decoder) ? undefined : words;
  } catch {
    return undefined; // Neither the encoding nor the JSON that others would trip over.
  }
}

function write(words: readonly Word[]): Uint8Array {
  const encoder = createEncoder();
  writeVarUint(encoder, words.length);
  for (const { client, clock, state } of words) {
    writeVarUint(encoder, client);
    writeVarUint(encoder, clock);
    writeVarString(encoder, state);
  }
  return toUint8Array(encoder);
}
