/** What a connection asked for, in the order it came. */
export type Task =
  /** Begins at once behind other ops; `answered` gives its frame, in the same turn in which that is known. */
  | { readonly kind: "op"; begin(answered: (text: string) => void): void }
  /** Begins when everything before it is answered, and everything after it waits. Must not reject. */
  | { readonly kind: "read"; read(): Promise<void> }
  /** Has its answer already. */
  | { readonly kind: "say"; readonly text: string }
  /** Has no answer. */
  | { readonly kind: "act"; act(): void };

interface Slot {
  text: string | undefined;
  readonly bytes: number;
}

/**
 * Keeps the answers of one connection in the order of its frames (rules P2, P12), while ops overlap: an op is handed on
 * without waiting for those before it. Reads see what came before them and nothing that came after.
 */
export class AnswerLine {
  readonly #send: (text: string) => void;
  readonly #waiting: { readonly task: Task; readonly bytes: number }[] = [];
  readonly #slots: Slot[] = [];
  readonly #changed: () => void;
  #at: "idle" | "advancing" | "reading" | "closed" = "idle";
  #bytes = 0;

  /** `changed` runs when less waits than before. */
  constructor(options: { send: (text: string) => void; changed: () => void }) {
    this.#send = options.send;
    this.#changed = options.changed;
  }

  /** What came in and is not answered yet. */
  get outstanding(): { readonly frames: number; readonly bytes: number } {
    return { frames: this.#waiting.length + this.#slots.length, bytes: this.#bytes };
  }

  add(task: Task, bytes: number): void {
    if (this.#at === "closed") return;
    this.#bytes += bytes;
    this.#waiting.push({ task, bytes });
    this.#advance();
  }

  /** Nothing more is begun or said. */
  close(): void {
    this.#at = "closed";
    this.#waiting.length = 0;
    this.#slots.length = 0;
  }

  #advance(): void {
    if (this.#at !== "idle") return;
    this.#at = "advancing";
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (next.task.kind === "read" && this.#slots.length > 0) break;
      this.#waiting.shift();
      this.#begin(next.task, next.bytes);
      // What was begun may have closed the line, and a read holds up what follows it.
      if (!this.#isAdvancing()) return;
    }
    this.#at = "idle";
  }

  #isAdvancing(): boolean {
    return this.#at === "advancing";
  }

  #begin(task: Task, bytes: number): void {
    switch (task.kind) {
      case "act":
        task.act();
        this.#done(bytes);
        return;
      case "say":
        this.#hold({ text: task.text, bytes });
        return;
      case "op": {
        const slot: Slot = { text: undefined, bytes };
        this.#hold(slot);
        task.begin((text) => {
          slot.text = text;
          this.#release();
        });
        return;
      }
      case "read":
        this.#at = "reading";
        void task.read().then(() => {
          if (this.#at === "closed") return;
          this.#at = "idle";
          this.#done(bytes);
          this.#advance();
        });
    }
  }

  #hold(slot: Slot): void {
    this.#slots.push(slot);
    this.#release();
  }

  #release(): void {
    for (let slot = this.#slots[0]; slot?.text !== undefined; slot = this.#slots[0]) {
      this.#slots.shift();
      this.#send(slot.text);
      this.#done(slot.bytes);
    }
    if (this.#slots.length === 0) this.#advance();
  }

  #done(bytes: number): void {
    this.#bytes -= bytes;
    this.#changed();
  }
}
