import type { Page, PageSignal } from "../env/page.ts";

/** A page that a test turns off and on, hides and shows. Online and visible to begin with. */
export class TestPage implements Page {
  readonly #listeners = new Set<(signal: PageSignal) => void>();
  #online = true;
  #visible = true;

  get online(): boolean {
    return this.#online;
  }

  get visible(): boolean {
    return this.#visible;
  }

  watch(listener: (signal: PageSignal) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Tells the watchers, as a browser would, after `online` and `visible` say what the signal says. */
  signal(signal: PageSignal): void {
    if (signal === "online" || signal === "offline") this.#online = signal === "online";
    if (signal === "visible" || signal === "hidden") this.#visible = signal === "visible";
    for (const listener of [...this.#listeners]) listener(signal);
  }
}
