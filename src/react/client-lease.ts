import type { Client } from "../client.ts";

/**
 * One client, opened when somebody first holds it and closed when nobody does any more.
 *
 * React's StrictMode runs every effect, its cleanup and the effect again in one turn; the close therefore
 * waits for the end of the turn, and a client that was let go and taken up again in one turn stays open.
 */
export class ClientLease {
  readonly #open: () => Promise<Client>;
  #opened: Promise<Client> | undefined;
  #holders = 0;

  constructor(open: () => Promise<Client>) {
    this.#open = open;
  }

  /** Resolves to the open client; rejects with what `openClient` rejected with. Every call needs its `release`. */
  hold(): Promise<Client> {
    this.#holders += 1;
    this.#opened ??= this.#open();
    return this.#opened;
  }

  /** Closes the client at the end of this turn unless it is held again; resolves when that is decided and done. */
  async release(): Promise<void> {
    this.#holders -= 1;
    await Promise.resolve();
    if (this.#holders > 0 || this.#opened === undefined) return;
    const opened = this.#opened;
    this.#opened = undefined;
    // Whoever held it was told where the opening failed; there is nothing to close then.
    const [outcome] = await Promise.allSettled([opened]);
    if (outcome.status === "fulfilled") await outcome.value.close();
  }
}
