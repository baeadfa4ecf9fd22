import { applyAwarenessUpdate, encodeAwarenessUpdate } from "y-protocols/awareness";
import type { Clock } from "../env/clock.ts";
import type { TabChannel, Tabs } from "../env/tabs.ts";
import type { Replicas } from "./replicas.ts";
import type { StateReplica } from "./state-replica.ts";

/** How often a tab says which sessions it shows. */
export const SHOWS_MS = 20_000;
/** How long the leading tab keeps a session's channel for a tab that says nothing: hidden pages have one timer a minute. */
export const HOLD_MS = 150_000;
/** The same, once a tab has said that it no longer shows it: others that do have spoken by then. */
export const AFTER_CLOSE_MS = SHOWS_MS + 5_000;

export interface TabPresenceOptions {
  readonly tabs: Tabs;
  /** Names the actor's database among the tabs. */
  readonly name: string;
  readonly clock: Clock;
  readonly replicas: Replicas;
}

type Said =
  /** An awareness update of y-protocols. */
  | { readonly say: "presence"; readonly session: string; readonly update: Uint8Array }
  | { readonly say: "shows" | "closed"; readonly sessions: readonly string[] }
  /** A tab has begun to lead: it does not know what the others show. */
  | { readonly say: "who" };

interface Seat {
  readonly replica: StateReplica;
  /** How often the session is open in this tab. */
  opens: number;
  readonly detach: () => void;
}

/**
 * Presence between the tabs of one browser. Each tab tells the others what changes in it, whoever it came from; the tab
 * that holds the connection opens the channel of a session that another tab shows, and so passes on what it says.
 */
export class TabPresence {
  readonly #options: TabPresenceOptions;
  readonly #channel: TabChannel;
  readonly #seats = new Map<StateReplica, Seat>();
  /** Sessions whose document this tab keeps open for others. */
  readonly #held = new Map<string, { readonly replica: StateReplica; readonly cancel: () => void }>();
  #leading = false;
  #stopSaying: () => void;

  constructor(options: TabPresenceOptions) {
    this.#options = options;
    this.#channel = options.tabs.channel(`${options.name}/presence`, (data) => this.#heard(data as Said));
    this.#stopSaying = this.#sayAgain();
  }

  /** The session is shown in this tab. Answers how to end that; with the last, nobody is here any more. */
  enter(replica: StateReplica): () => void {
    const seat = this.#seatOf(replica);
    seat.opens += 1;
    if (seat.opens === 1) this.#say({ say: "shows", sessions: [replica.session] });
    let inside = true;
    return () => {
      if (!inside) return;
      inside = false;
      seat.opens -= 1;
      if (seat.opens > 0) return;
      if (replica.awareness.getLocalState() !== null) replica.awareness.setLocalState(null);
      this.#say({ say: "closed", sessions: [replica.session] });
      this.#considerEmpty(seat);
    };
  }

  leads(leading: boolean): void {
    if (leading === this.#leading) return;
    this.#leading = leading;
    if (leading) this.#say({ say: "who" });
    else for (const session of [...this.#held.keys()]) this.#letGo(session);
  }

  close(): void {
    this.#stopSaying();
    for (const session of [...this.#held.keys()]) this.#letGo(session);
    for (const { detach } of this.#seats.values()) detach();
    this.#seats.clear();
    this.#channel.close();
  }

  #seatOf(replica: StateReplica): Seat {
    const known = this.#seats.get(replica);
    if (known !== undefined) return known;
    const { awareness } = replica;
    const changed = (
      { added, updated, removed }: Record<"added" | "updated" | "removed", number[]>,
      origin: unknown,
    ): void => {
      const own = awareness.clientID;
      // Another tab took this one for gone: it is not.
      const here = awareness.getLocalState();
      if (origin === this && removed.includes(own) && here !== null) awareness.setLocalState(here);
      if (origin !== this) this.#tell(replica, [...added, ...updated, ...removed]);
    };
    awareness.on("update", changed);
    const seat: Seat = { replica, opens: 0, detach: () => awareness.off("update", changed) };
    this.#seats.set(replica, seat);
    return seat;
  }

  #considerEmpty({ replica, opens, detach }: Seat): void {
    if (opens > 0 || this.#held.get(replica.session)?.replica === replica) return;
    detach();
    this.#seats.delete(replica);
  }

  #heard(said: Said): void {
    switch (said.say) {
      case "who":
        this.#sayShown();
        break;
      case "shows":
        for (const session of said.sessions) {
          this.#hold(session, HOLD_MS);
          for (const { replica } of this.#seatsOf(session))
            this.#tell(replica, [...replica.awareness.getStates().keys()]);
        }
        break;
      case "closed":
        for (const session of said.sessions) if (this.#held.has(session)) this.#hold(session, AFTER_CLOSE_MS);
        break;
      case "presence":
        this.#hold(said.session, HOLD_MS);
        for (const { replica } of this.#seatsOf(said.session))
          applyAwarenessUpdate(replica.awareness, said.update, this);
        break;
    }
  }

  #seatsOf(session: string): Seat[] {
    return [...this.#seats.values()].filter(({ replica }) => replica.session === session && !replica.isOver);
  }

  /** The leading tab keeps the document open, and with it the channel. */
  #hold(session: string, ms: number): void {
    if (!this.#leading) return;
    const held = this.#held.get(session);
    held?.cancel();
    const replica =
      held === undefined || held.replica.isOver ? this.#options.replicas.acquire(session) : held.replica;
    if (held !== undefined && held.replica !== replica) void this.#options.replicas.release(held.replica);
    const cancel = this.#options.clock.after(ms, () => this.#letGo(session));
    this.#held.set(session, { replica, cancel });
    this.#seatOf(replica);
  }

  #letGo(session: string): void {
    const held = this.#held.get(session);
    if (held === undefined) return;
    held.cancel();
    this.#held.delete(session);
    const seat = this.#seats.get(held.replica);
    if (seat !== undefined) this.#considerEmpty(seat);
    const { replicas } = this.#options;
    void replicas.release(held.replica).then(() => replicas.reconsider());
  }

  #tell({ awareness, session }: StateReplica, clients: readonly number[]): void {
    if (clients.length === 0) return;
    this.#say({ say: "presence", session, update: encodeAwarenessUpdate(awareness, [...clients]) });
  }

  #sayShown(): void {
    const shown = [...this.#seats.values()].filter(({ opens }) => opens > 0);
    const sessions = [...new Set(shown.map(({ replica }) => replica.session))];
    if (sessions.length > 0) this.#say({ say: "shows", sessions });
    for (const { replica } of shown)
      if (replica.awareness.getLocalState() !== null) this.#tell(replica, [replica.awareness.clientID]);
  }

  #sayAgain(): () => void {
    return this.#options.clock.after(SHOWS_MS, () => {
      if (!this.#leading) this.#sayShown();
      this.#stopSaying = this.#sayAgain();
    });
  }

  #say(said: Said): void {
    this.#channel.post(said);
  }
}
