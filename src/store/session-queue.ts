/** One piece of work at a time for each key, in the order of the calls; a failing work lets the next one run (S13). */
export class SessionQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const turn = before.then(work);
    const settled = turn.then(ignore, ignore);
    this.#last.set(key, settled);
    void settled.then(() => this.#last.get(key) === settled && this.#last.delete(key));
    return turn;
  }
}

function ignore(): void {}
