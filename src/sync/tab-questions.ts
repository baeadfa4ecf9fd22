import type { Clock } from "../env/clock.ts";
import type { TabChannel, Tabs } from "../env/tabs.ts";
import { ConnectionError, type HoldfastError, RejectedError } from "../model/errors.ts";
import type { Answer, Asking, Question } from "./requests.ts";

/** Whoever can put questions to the relay. */
export interface Asker {
  ask<A extends Asking>(question: Question<A>): Promise<Answer<A>>;
}

export interface TabQuestionsOptions {
  readonly tabs: Tabs;
  readonly clock: Clock;
  /** Names the database among the tabs. */
  readonly name: string;
  readonly newId: () => string;
  /** The connection of this tab, while it holds it. */
  readonly own: () => Asker | undefined;
}

type Said =
  | { readonly say: "question"; readonly id: string; readonly question: Question<Asking> }
  | { readonly say: "answer"; readonly id: string; readonly answer: Answer<Asking> }
  | { readonly say: "failure"; readonly id: string; readonly message: string; readonly reason?: string };

interface Open {
  readonly resolve: (answer: Answer<Asking>) => void;
  readonly reject: (error: HoldfastError) => void;
  readonly stop: () => void;
}

/** How long a tab waits for the one that holds the connection, in milliseconds. */
const PATIENCE_MS = 10_000;

/** Questions of a tab that does not hold the connection, put through by the one that does. */
export class TabQuestions implements Asker {
  readonly #options: TabQuestionsOptions;
  readonly #channel: TabChannel;
  readonly #open = new Map<string, Open>();

  constructor(options: TabQuestionsOptions) {
    this.#options = options;
    this.#channel = options.tabs.channel(`${options.name}/questions`, (data) => this.#hear(data as Said));
  }

  /** @throws ConnectionError when no tab has a connection. @throws RejectedError as the relay's own answer would. */
  ask<A extends Asking>(question: Question<A>): Promise<Answer<A>> {
    const { newId, clock } = this.#options;
    const id = newId();
    return new Promise((resolve, reject) => {
      const stop = clock.after(PATIENCE_MS, () => this.#settle(id)?.reject(unanswered()));
      // The answer is of the kind that the question asks for: the tab that put it through saw to that.
      this.#open.set(id, { resolve: (answer) => resolve(answer as Answer<A>), reject, stop });
      this.#say({ say: "question", id, question });
    });
  }

  close(): void {
    for (const id of [...this.#open.keys()]) this.#settle(id)?.reject(unanswered());
    this.#channel.close();
  }

  #hear(said: Said): void {
    switch (said.say) {
      case "question":
        this.#putThrough(said.id, said.question);
        break;
      case "answer":
        this.#settle(said.id)?.resolve(said.answer);
        break;
      case "failure": {
        const { message, reason } = said;
        const error = reason === undefined ? unanswered() : new RejectedError(message, { reason });
        this.#settle(said.id)?.reject(error);
        break;
      }
    }
  }

  #putThrough(id: string, question: Question<Asking>): void {
    this.#options
      .own()
      ?.ask(question)
      .then(
        (answer) => this.#say({ say: "answer", id, answer }),
        (error: unknown) => {
          const message = error instanceof Error ? error.message : String(error);
          const reason = error instanceof RejectedError ? { reason: error.reason } : {};
          this.#say({ say: "failure", id, message, ...reason });
        },
      );
  }

  #settle(id: string): Open | undefined {
    const open = this.#open.get(id);
    this.#open.delete(id);
    open?.stop();
    return open;
  }

  #say(said: Said): void {
    this.#channel.post(said);
  }
}

function unanswered(): ConnectionError {
  return new ConnectionError("That generation is not held on this device, and no tab has a connection", {
    retryable: true,
  });
}
