import type { Clock } from "../env/clock.ts";
import type { TabChannel, Tabs } from "../env/tabs.ts";
import { HoldfastError, invalidInput } from "../model/errors.ts";
import { takePiece } from "../model/piece.ts";
import { Listeners } from "../store/listeners.ts";
import type { NewStream, RunningStream, StreamBoard } from "../store/running-streams.ts";
import { type StreamWord, streamChannelOf } from "./stream-words.ts";

/** Running streams of one session in one tab. */
export const MAX_STREAMS_PER_SESSION = 16;
/** Deltas of this long go to the other tabs as one. */
export const GATHER_MS = 25;
/** How often a stream that says nothing shows that it runs. */
export const BEAT_MS = 5_000;
/** A stream of another tab that was silent for so long has lost its tab. Hidden pages may have one timer a minute. */
export const SILENT_MS = 150_000;
/** How long an ended stream waits for its message to show. */
export const KEEP_ENDED_MS = 30_000;

export interface StreamHubOptions {
  readonly tabs: Tabs;
  /** Names the actor's database among the tabs. */
  readonly name: string;
  readonly clock: Clock;
  readonly newId: () => string;
}

interface Held {
  readonly session: string;
  /** What it was begun with in this tab; undefined for a stream of another. */
  readonly own: NewStream | undefined;
  readonly ended: boolean;
  readonly view: RunningStream;
  /** Code units that the other tabs were told. */
  readonly told: number;
  readonly cancel: () => void;
  readonly gathering: boolean;
}

/** The messages being written now, told between the tabs of one actor by broadcast; one tab carries them over the relay. */
export class StreamHub implements StreamBoard {
  readonly #options: StreamHubOptions;
  readonly #channel: TabChannel;
  readonly #streams = new Map<string, Held>();
  readonly #listeners = new Map<string, Listeners>();
  #closed = false;

  constructor(options: StreamHubOptions) {
    this.#options = options;
    this.#channel = options.tabs.channel(streamChannelOf(options.name), (data) =>
      this.#heard(data as StreamWord),
    );
    this.#say({ say: "ask", id: undefined });
  }

  begin(session: string, own: NewStream): RunningStream {
    const running = [...this.#streams.values()].filter(
      (held) => held.own !== undefined && !held.ended && held.session === session,
    );
    if (running.length >= MAX_STREAMS_PER_SESSION)
      throw new HoldfastError(`A session has at most ${MAX_STREAMS_PER_SESSION} running streams in a tab`, {
        code: "limit-reached",
      });
    const { id = this.#options.newId(), role, runId } = own;
    if (this.#streams.get(id)?.own !== undefined)
      throw invalidInput("id", "must not be that of another stream");
    // Begun anew: what another tab or device was told of it is no beginning of this one.
    if (this.#streams.has(id)) this.#say({ say: "end", session, id, kept: false });
    const view = Object.freeze({ id, role, runId, text: "" });
    this.#set({ session, own, ended: false, view, told: 0, cancel: () => {}, gathering: false });
    this.#tell(view.id);
    return view;
  }

  grow(session: string, id: string, text: string): void {
    const held = this.#streams.get(id);
    if (held === undefined || held.ended || held.session !== session) return;
    const next = { ...held, view: Object.freeze({ ...held.view, text }) };
    if (held.gathering) this.#set(next);
    else {
      held.cancel();
      const cancel = this.#options.clock.after(GATHER_MS, () => this.#tell(id));
      this.#set({ ...next, gathering: true, cancel });
    }
  }

  end(session: string, id: string, { kept }: { readonly kept: boolean }): void {
    const held = this.#streams.get(id);
    if (held === undefined || held.ended || held.session !== session) return;
    if (kept) this.#tell(id);
    this.#say({ say: "end", session, id, kept });
    this.#ended(id, kept);
  }

  running(session: string): readonly RunningStream[] {
    return [...this.#streams.values()].filter((held) => held.session === session).map(({ view }) => view);
  }

  watch(session: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(session) ?? new Listeners();
    this.#listeners.set(session, listeners);
    const end = listeners.add(listener);
    return () => {
      end();
      if (listeners.size === 0 && this.#listeners.get(session) === listeners) this.#listeners.delete(session);
    };
  }

  close(): void {
    this.#closed = true;
    for (const { cancel } of this.#streams.values()) cancel();
    this.#streams.clear();
    this.#listeners.clear();
    this.#channel.close();
  }

  #set(held: Held): void {
    this.#streams.set(held.view.id, held);
    this.#listeners.get(held.session)?.tell();
  }

  #drop(id: string): void {
    const held = this.#streams.get(id);
    if (held === undefined) return;
    held.cancel();
    this.#streams.delete(id);
    this.#listeners.get(held.session)?.tell();
  }

  #ended(id: string, kept: boolean): void {
    const held = this.#streams.get(id);
    if (held === undefined) return;
    if (!kept) {
      this.#drop(id);
      return;
    }
    held.cancel();
    const cancel = this.#options.clock.after(KEEP_ENDED_MS, () => this.#drop(id));
    this.#set({ ...held, ended: true, cancel });
  }

  /** Tells the other tabs what they lack; with nothing new, that it runs. */
  #tell(id: string, from?: number): void {
    const held = this.#streams.get(id);
    if (held?.own === undefined || held.ended) return;
    const { session, view, own } = held;
    const incarnation = own?.incarnation() ?? null;
    const { text, ...stream } = view;
    const at = from ?? held.told;
    this.#say({ say: "piece", session, incarnation, stream, at, text: text.slice(at) });
    held.cancel();
    const cancel = this.#options.clock.after(BEAT_MS, () => this.#tell(id));
    this.#streams.set(id, { ...held, told: text.length, cancel, gathering: false });
  }

  #say(said: StreamWord): void {
    if (!this.#closed) this.#channel.post(said);
  }

  #heard(said: StreamWord): void {
    if (this.#closed) return;
    switch (said.say) {
      case "ask":
        for (const id of said.id === undefined ? [...this.#streams.keys()] : [said.id]) this.#tell(id, 0);
        break;
      case "end":
        if (this.#streams.get(said.id)?.own === undefined) this.#ended(said.id, said.kept);
        break;
      case "piece":
        this.#take(said);
        break;
      case "refused":
        this.#refused(said);
        break;
    }
  }

  /** Whose session is gone is over. What the relay does not carry for another reason goes on in these tabs. */
  #refused({ id, code }: Extract<StreamWord, { say: "refused" }>): void {
    const held = this.#streams.get(id);
    if (held?.own === undefined || (code !== "deleted" && code !== "unknown-session")) return;
    held.own.deleted();
    this.end(held.session, id, { kept: false });
  }

  #take({ session, stream, at, text }: Extract<StreamWord, { say: "piece" }>): void {
    const { id } = stream;
    const held = this.#streams.get(id);
    if (held?.own !== undefined || held?.ended === true) return;
    const before = held?.view.text ?? "";
    const taken = takePiece(before, { at, text });
    if (taken.is === "gap") this.#say({ say: "ask", id });
    held?.cancel();
    const cancel = this.#options.clock.after(SILENT_MS, () => this.#drop(id));
    const view = Object.freeze({ ...stream, text: taken.is === "grown" ? taken.text : before });
    const next = { session, own: undefined, ended: false, view, told: 0, cancel, gathering: false };
    // Until its beginning is known, it is not shown: half a text is not what somebody writes.
    if (held === undefined && taken.is === "gap") cancel();
    else if (held !== undefined && taken.is !== "grown") this.#streams.set(id, { ...next, view: held.view });
    else this.#set(next);
  }
}
