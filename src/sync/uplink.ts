import type { Environment } from "../env/environment.ts";
import type { Tabs } from "../env/tabs.ts";
import { HoldfastError } from "../model/errors.ts";
import type { LocalDatabase } from "../store/database.ts";
import type { SyncRows } from "../store/sync-rows.ts";
import type { FaultCode } from "../wire/fault.ts";
import type { LinkStatus } from "./connection-state.ts";
import { Engine } from "./engine.ts";
import { Link, type TokenSource } from "./link.ts";
import { LinkChannels } from "./link-channels.ts";
import type { Replicas } from "./replicas.ts";
import { Requests } from "./requests.ts";
import { StateSync } from "./state-sync.ts";
import { StreamBridge } from "./stream-bridge.ts";

/** What there is to tell of the connection. */
export interface UplinkStatus {
  readonly link: LinkStatus;
  /** The catalog has been read on this connection. */
  readonly fresh: boolean;
  readonly lastError: HoldfastError | undefined;
}

/** How long to leave a state channel alone that the relay could not serve, or the local database. */
const STATE_AGAIN_MS = 5_000;

export interface UplinkOptions {
  readonly url: string;
  readonly actorId: string;
  readonly device: string;
  readonly token: TokenSource;
  readonly env: Environment;
  readonly tabs: Tabs;
  /** Names the database among the tabs. */
  readonly name: string;
  readonly db: LocalDatabase<SyncRows>;
  readonly replicas: Replicas;
  readonly newId: () => string;
  readonly changed: (status: UplinkStatus) => void;
  /** An answer of the relay has been stored. */
  readonly synced: () => void;
  readonly failed: (error: unknown) => void;
}

/** All that the leading tab runs: the link, what goes over it, and the questions that go over it. */
export class Uplink {
  readonly requests: Requests;
  readonly #options: UplinkOptions;
  readonly #link: Link;
  readonly #engine: Engine;
  readonly #channels: LinkChannels;
  readonly #state: StateSync;
  readonly #streams: StreamBridge;
  readonly #leave: () => void;
  readonly #stops = new Set<() => void>();
  #closed = false;

  constructor(options: UplinkOptions) {
    const { url, actorId, device, token, env, tabs, name, db, replicas, newId, synced, failed } = options;
    this.#options = options;
    this.#link = new Link({ url, actorId, device, token, env });
    this.requests = new Requests(this.#link);
    this.#channels = new LinkChannels(this.#link);
    this.#engine = new Engine({
      db,
      link: this.#link,
      env,
      newId,
      channelCovers: (session) => this.#state.covers(session),
      freshnessChanged: () => {
        this.#tell();
        if (this.#engine.isFresh) this.#state.online();
      },
      synced,
      failed,
    });
    this.#state = new StateSync({
      db,
      replicas,
      channels: this.#channels,
      isFresh: () => this.#engine.isFresh,
      synced,
      later: (work) => {
        const stop = env.clock.after(STATE_AGAIN_MS, () => {
          this.#stops.delete(stop);
          work();
        });
        this.#stops.add(stop);
      },
      refused: (session, code) => failed(stateRefused(session, code)),
      failed,
    });
    this.#streams = new StreamBridge({ link: this.#link, tabs, name });
    this.#engine.start();
    this.#leave = this.#link.watch({ statusChanged: () => this.#tell() });
    this.#link.start();
    this.#tell();
  }

  reconnect(): void {
    this.#link.reconnect();
  }

  /** Nothing is told or sent from here on: the socket is closed when this returns. Resolves when nothing is written any more. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#leave();
    this.#streams.close();
    for (const stop of this.#stops) stop();
    this.#link.close();
    const ended = this.#engine.close();
    await this.#state.close();
    this.#channels.close();
    this.requests.close();
    await ended;
  }

  #tell(): void {
    if (this.#closed) return;
    const { link, lastError } = this.#link.status;
    const fresh = link === "online" && this.#engine.isFresh;
    this.#options.changed({ link, fresh, lastError });
  }
}

function stateRefused(session: string, code: FaultCode): HoldfastError {
  return new HoldfastError(`The relay refused the state of session ${session}: ${code}`, {
    code: "rejected",
  });
}
