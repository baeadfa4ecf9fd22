import type { Clock } from "../../src/env/clock.ts";
import { type Piece, takePiece } from "../../src/model/piece.ts";
import { utf8Bytes, writeFrame } from "../../src/wire/codec.ts";
import type { Stream, StreamAsk, StreamEnd } from "../../src/wire/stream.ts";
import type { Change, StreamChange } from "../bus/contract.ts";
import { limitTold, type RelayLimits } from "../limits.ts";
import type { RelayStorage } from "../storage/contract.ts";
import {
  endText,
  type HeldStream,
  pieceText,
  refusedText,
  type StreamName,
  type StreamRefusal,
  type StreamSeat,
} from "./held-stream.ts";

/** Pieces of this long go on as one (rule P72). */
const GATHER_MS = 50;
/** How long a stream waits for another connection to write it (rule P75). */
export const GRACE_MS = 30_000;
/** A stream that nobody speaks of for so long is over: at another relay, or in a tab that was killed. */
export const SILENT_MS = 150_000;

export interface StreamHost {
  readonly clock: Clock;
  readonly limits: Pick<RelayLimits, "maxStreamsPerSocket" | "maxStreamBytes">;
  readonly storage: Pick<RelayStorage, "listGenerations">;
  publish(message: StreamChange): void;
}

/** The running streams of one actor, and the connections that read them. */
export class StreamRoom {
  readonly #actor: string;
  readonly #host: StreamHost;
  readonly #emptied: () => void;
  readonly #seats = new Set<StreamSeat>();
  readonly #streams = new Map<string, HeldStream>();

  /** `emptied` runs when nobody reads here and nothing runs any more. */
  constructor(actor: string, host: StreamHost, emptied: () => void) {
    this.#actor = actor;
    this.#host = host;
    this.#emptied = emptied;
  }

  join(seat: StreamSeat): void {
    this.#seats.add(seat);
  }

  leave(seat: StreamSeat): void {
    this.#seats.delete(seat);
    for (const held of [...this.#streams.values()]) {
      if (held.writer === seat) {
        held.writer = undefined;
        this.#awaitWord(held, GRACE_MS);
      } else if (held.afar && this.#seats.size === 0) this.#forget(held);
    }
    this.#considerEmpty();
  }

  /** A piece from a connection of this relay. */
  write(seat: StreamSeat, frame: Stream): void {
    const held = this.#streams.get(frame.id) ?? this.#begin(frame, seat);
    if (held === undefined) return;
    if (held.name.session !== frame.session) {
      seat.say(refusedText(frame.id, { code: "malformed", message: "This stream is of another session" }));
      return;
    }
    if (held.writer !== seat) held.asked = undefined;
    held.writer = seat;
    this.#take(held, frame, (from) => seat.say(writeFrame({ type: "stream-ask", id: frame.id, from })));
  }

  end(seat: StreamSeat | undefined, { id, session, kept }: Omit<StreamEnd, "type">): void {
    const held = this.#streams.get(id);
    if (held?.name.session === session) this.#end(held, { kept, except: seat });
  }

  /** What runs, as frames; what only others may hold is asked of them. */
  asked(seat: StreamSeat, { id, from = 0 }: Omit<StreamAsk, "type">): readonly string[] {
    const held = id === undefined ? undefined : this.#streams.get(id);
    if (held === undefined) this.#publish({ say: "ask", id, from });
    const all = held === undefined ? (id === undefined ? [...this.#streams.values()] : []) : [held];
    return all
      .filter(({ writer, checked }) => checked && writer !== seat)
      .map((one) => pieceText(one, Math.min(from, one.text.length)));
  }

  /** What another relay process says. */
  heard({ said }: StreamChange): void {
    switch (said.say) {
      case "piece": {
        const held =
          this.#streams.get(said.name.id) ?? this.#add(said.name, { writer: undefined, afar: true });
        const { id } = said.name;
        this.#take(held, said, (from) => this.#publish({ say: "ask", id, from }));
        break;
      }
      case "end":
        this.end(undefined, said);
        break;
      case "ask":
        for (const held of this.#streams.values()) {
          if (held.afar || !held.checked || (said.id !== undefined && said.id !== held.name.id)) continue;
          const at = Math.min(said.from, held.text.length);
          this.#publish({ say: "piece", name: held.name, at, text: held.text.slice(at) });
        }
        break;
    }
  }

  /** The log has grown, or the session is gone (rules P74, P76). */
  changed({ entry, append }: Change): void {
    if (this.#streams.size === 0) return;
    for (const { id } of append?.messages ?? [])
      this.end(undefined, { id, session: entry.session, kept: true });
    if (!entry.deleted) return;
    for (const held of [...this.#streams.values()]) {
      if (held.name.session === entry.session) this.#refuse(held, DELETED);
    }
  }

  close(): void {
    for (const held of [...this.#streams.values()]) this.#forget(held);
  }

  #begin(frame: Stream, writer: StreamSeat): HeldStream | undefined {
    const { maxStreamsPerSocket: max } = this.#host.limits;
    if ([...this.#streams.values()].filter((held) => held.writer === writer).length >= max) {
      writer.say(refusedText(frame.id, { code: "limit-reached", ...limitTold("maxStreamsPerSocket", max) }));
      return undefined;
    }
    const { id, session, incarnation, role, runId } = frame;
    const held = this.#add({ id, session, incarnation, role, runId }, { writer, afar: false });
    if (incarnation !== null) void this.#check(held, incarnation);
    return held;
  }

  #add(name: StreamName, { writer, afar }: Pick<HeldStream, "writer" | "afar">): HeldStream {
    const held: HeldStream = {
      name,
      text: "",
      bytes: 0,
      told: 0,
      writer,
      afar,
      checked: afar || name.incarnation === null,
      asked: undefined,
      cancelGather: undefined,
      cancelSilence: () => {},
    };
    this.#streams.set(name.id, held);
    return held;
  }

  /** Whether the session it is of is there, in the life that it names. */
  async #check(held: HeldStream, incarnation: string): Promise<void> {
    const place = { actor: this.#actor, session: held.name.session, incarnation };
    let refusal: StreamRefusal | undefined;
    try {
      const found = await this.#host.storage.listGenerations(place, 1);
      if ("absent" in found)
        refusal =
          found.absent === "deleted" ? DELETED : { code: found.absent, message: "There is no such session" };
    } catch {
      refusal = { code: "try-again", message: "The relay's storage could not be read" };
    }
    if (this.#streams.get(held.name.id) !== held) return;
    held.checked = true;
    if (refusal === undefined) this.#tell(held);
    else this.#refuse(held, refusal);
  }

  #take(held: HeldStream, piece: Piece, ask: (from: number) => void): void {
    this.#awaitWord(held, SILENT_MS);
    const taken = takePiece(held.text, piece);
    if (taken.is === "gap") {
      // An answer may have been lost: the next sign of life asks again.
      if (held.asked !== held.text.length || piece.text === "") ask(held.text.length);
      held.asked = held.text.length;
    } else if (taken.is === "grown") {
      const { maxStreamBytes: max } = this.#host.limits;
      held.bytes += utf8Bytes(taken.text.slice(held.text.length));
      held.text = taken.text;
      held.asked = undefined;
      if (held.bytes > max) this.#refuse(held, { code: "too-large", ...limitTold("maxStreamBytes", max) });
      else held.cancelGather ??= this.#host.clock.after(GATHER_MS, () => this.#tell(held));
    } else if (held.cancelGather === undefined && piece.text === "") this.#tell(held);
  }

  /** What is new goes to the others; with nothing new, that it runs. */
  #tell(held: HeldStream): void {
    if (!held.checked) return;
    const { told: at, name, text } = held;
    held.cancelGather?.();
    held.cancelGather = undefined;
    held.told = text.length;
    this.#say(pieceText(held, at), held.writer);
    if (!held.afar) this.#publish({ say: "piece", name, at, text: text.slice(at) });
  }

  #refuse(held: HeldStream, refusal: StreamRefusal): void {
    held.writer?.say(refusedText(held.name.id, refusal));
    this.#end(held, { kept: false, except: held.writer });
  }

  #end(held: HeldStream, { kept, except }: { kept: boolean; except: StreamSeat | undefined }): void {
    if (kept && held.told < held.text.length) this.#tell(held);
    this.#forget(held);
    if (held.checked) this.#say(endText(held.name, kept), except);
    const { id, session } = held.name;
    if (!held.afar) this.#publish({ say: "end", id, session, kept });
  }

  /** Ends it when nothing is heard of it in this time. */
  #awaitWord(held: HeldStream, ms: number): void {
    held.cancelSilence();
    held.cancelSilence = this.#host.clock.after(ms, () =>
      this.#end(held, { kept: false, except: undefined }),
    );
  }

  #forget(held: HeldStream): void {
    held.cancelGather?.();
    held.cancelSilence();
    this.#streams.delete(held.name.id);
    this.#considerEmpty();
  }

  #considerEmpty(): void {
    if (this.#seats.size === 0 && this.#streams.size === 0) this.#emptied();
  }

  #say(text: string, except: StreamSeat | undefined): void {
    for (const seat of this.#seats) if (seat !== except) seat.say(text);
  }

  #publish(said: StreamChange["said"]): void {
    this.#host.publish({ type: "stream", actor: this.#actor, said });
  }
}

const DELETED: StreamRefusal = { code: "deleted", message: "This life of the session is over" };
