import type { Clock } from "../../src/env/clock.ts";
import type { Reporter } from "../../src/env/reporter.ts";
import type { Change, PresenceChange } from "../bus/contract.ts";
import type { Answer, RelayStorage, StateWrite } from "../storage/contract.ts";
import type { TimeBox } from "../time-box.ts";
import { COMPACT_AT_UPDATES, type Compacted, compactSession } from "./compaction.ts";
import { StateChannel } from "./state-channel.ts";
import { checkUpdate, type StateBound, type UpdateCheck } from "./update-check.ts";

export interface ChannelsHost {
  readonly clock: Clock;
  readonly reporter: Reporter;
  readonly timeBox: TimeBox;
  readonly storage: RelayStorage;
  readonly limits: {
    readonly maxStateBytes: number;
    readonly maxQueuedBytes: number;
    readonly maxPresenceBytes: number;
    readonly stateCheckMs: number;
  };
  submit(write: StateWrite, answered: (answer: Answer) => void): void;
  publish(presence: PresenceChange): void;
}

export interface ChannelPlace {
  readonly actor: string;
  readonly session: string;
}

/** The channels that somebody has open, one a session, and the compaction of their stored state. */
export class Channels {
  readonly #host: ChannelsHost;
  readonly #bound: StateBound;
  readonly #open = new Map<string, StateChannel>();
  readonly #compacting = new Map<string, Promise<Compacted>>();
  #settled: (() => void) | undefined;

  constructor(host: ChannelsHost) {
    this.#host = host;
    const { timeBox, limits } = host;
    this.#bound = (work) => timeBox(limits.stateCheckMs, work);
  }

  /** Whether bytes are an update that a session's state may take, wherever it came from. */
  check(update: Uint8Array): UpdateCheck {
    return checkUpdate(update, this.#bound);
  }

  /** How many are open. */
  get size(): number {
    return this.#open.size;
  }

  /** The session's channel, to be joined at once: loaded once for all who come meanwhile. */
  at(place: ChannelPlace): StateChannel {
    const key = keyOf(place);
    return this.#open.get(key) ?? this.#make(place, key);
  }

  /** A change that did not come by the session's channel in this process. */
  changed(change: Change): void {
    const channel = this.#open.get(keyOf({ actor: change.actor, session: change.entry.session }));
    if (channel === undefined) return;
    if (change.entry.deleted) channel.end({ code: "deleted", message: "The session was deleted" });
    else if (change.state !== undefined) channel.stored(change.state.updates);
  }

  heard(presence: PresenceChange): void {
    this.#open.get(keyOf(presence))?.heardPresence(presence.update);
  }

  /** Has the session's stored state compacted when it has grown enough. */
  considerCompaction(place: ChannelPlace, held: { readonly updates: number; readonly bytes: number }): void {
    const crowded = held.bytes * 2 > this.#host.limits.maxStateBytes && held.updates >= CROWDED_UPDATES;
    if (held.updates >= COMPACT_AT_UPDATES || crowded) void this.compact(place);
  }

  /** Merges what storage holds of a session's state. Never rejects: what could not be merged stays as it is. */
  compact(place: ChannelPlace): Promise<Compacted> {
    const key = keyOf(place);
    const running = this.#compacting.get(key);
    if (running !== undefined) return running;
    const { storage, reporter } = this.#host;
    const compacting = compactSession(storage, place)
      .catch((error: unknown): Compacted => {
        reporter.report("error", "state-compaction-failed", { error: String(error) });
        return "failed";
      })
      .then((compacted) => {
        if (compacted === "damaged") reporter.report("error", "state-damaged");
        this.#compacting.delete(key);
        return compacted;
      });
    this.#compacting.set(key, compacting);
    return compacting;
  }

  /** Resolves when nothing is unsaved any more, or at the time limit with what is left. */
  async flush(timeoutMs: number): Promise<{ unsaved: number }> {
    const unsaved = (): number => [...this.#open.values()].filter((channel) => channel.unsaved).length;
    if (unsaved() > 0) {
      await new Promise<void>((resolve) => {
        const cancel = this.#host.clock.after(timeoutMs, resolve);
        this.#settled = () => {
          if (unsaved() > 0) return;
          cancel();
          resolve();
        };
      });
    }
    return { unsaved: unsaved() };
  }

  /** Ends them all: their clients come again. */
  close(): void {
    for (const channel of [...this.#open.values()]) {
      channel.end({ code: "try-again", message: "The relay is going down" });
    }
  }

  #make(place: ChannelPlace, key: string): StateChannel {
    const { actor, session } = place;
    const { clock, reporter, storage, limits } = this.#host;
    const { maxStateBytes, maxQueuedBytes, maxPresenceBytes, stateCheckMs } = limits;
    const channel = new StateChannel({
      clock,
      reporter,
      maxStateBytes,
      maxQueuedBytes,
      maxPresenceBytes,
      stateCheckMs,
      bound: this.#bound,
      load: () => storage.loadState({ actor, session, incarnation: null }),
      store: (life, stored) =>
        this.#host.submit({ kind: "state", actor, session, ...life }, (answer) => {
          stored(answer);
          this.#settled?.();
        }),
      passPresence: (incarnation, update) =>
        this.#host.publish({ type: "presence", actor, session, incarnation, update }),
      emptied: () => {
        this.#open.delete(key);
        this.#settled?.();
      },
    });
    this.#open.set(key, channel);
    return channel;
  }
}

/** Fewer than these are not worth merging, however large they are. */
const CROWDED_UPDATES = 32;

function keyOf({ actor, session }: ChannelPlace): string {
  return `${actor.length}:${actor}${session}`;
}
