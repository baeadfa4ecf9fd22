import type { Clock } from "../../src/env/clock.ts";
import type { Sockets } from "../../src/env/socket.ts";

/** What a dead tab awaits. */
export const never = new Promise<never>(() => {});

/**
 * The life of a tab. Every call of its client to the outside passes here; the tab dies at the one that was drawn, as a
 * process that is killed: nothing it awaits is ever answered, no timer fires, no frame arrives any more.
 */
export class Mortal {
  #left = Number.POSITIVE_INFINITY;
  #dead = false;
  #ended = (): void => {};
  readonly #ends: (() => void)[] = [];
  /** Resolves when it is dead. */
  readonly died = new Promise<void>((resolve) => {
    this.#ended = resolve;
  });

  get dead(): boolean {
    return this.#dead;
  }

  /** Whether a death has been drawn. */
  get doomed(): boolean {
    return this.#left !== Number.POSITIVE_INFINITY;
  }

  /** It dies at its n-th call from here on. */
  dieAt(n: number): void {
    this.#left = n;
  }

  spare(): void {
    this.#left = Number.POSITIVE_INFINITY;
  }

  /** What ends with it. */
  onDeath(end: () => void): void {
    this.#ends.push(end);
  }

  /** One call to the outside. False where there is nobody any more to make it. */
  breathe(): boolean {
    if (this.#dead) return false;
    this.#left -= 1;
    if (this.#left <= 0) this.die();
    return !this.#dead;
  }

  die(): void {
    if (this.#dead) return;
    this.#dead = true;
    for (const end of this.#ends) end();
    this.#ended();
  }

  /** The work, or the end of this life, whichever comes first. */
  during(work: unknown): Promise<unknown> {
    return Promise.race([work, this.died]);
  }
}

export function mortalClock(clock: Clock, life: Mortal): Clock {
  return {
    now: () => clock.now(),
    after: (delayMs, fire) => {
      if (!life.breathe()) return () => {};
      return clock.after(delayMs, () => {
        if (!life.dead) fire();
      });
    },
  };
}

/** Sockets that the other side sees closed when the tab dies. `sent` is told of each frame. */
export function mortalSockets(
  sockets: Sockets,
  life: Mortal,
  sent: (data: string | Uint8Array) => void,
): Sockets {
  return {
    connect: (url, events) => {
      if (!life.breathe()) return { send: () => {}, close: () => {}, bufferedBytes: 0 };
      const socket = sockets.connect(url, {
        opened: () => life.dead || events.opened(),
        received: (data) => life.dead || events.received(data),
        closed: (code, reason) => life.dead || events.closed(code, reason),
      });
      life.onDeath(() => socket.close(1006));
      return {
        send: (data) => {
          if (!life.breathe()) return;
          sent(data);
          socket.send(data);
        },
        close: (code, reason) => {
          if (life.breathe()) socket.close(code, reason);
        },
        get bufferedBytes() {
          return socket.bufferedBytes;
        },
      };
    },
  };
}
