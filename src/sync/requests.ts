import { ConnectionError, ProtocolError, RejectedError } from "../model/errors.ts";
import type { ClientFrame } from "../wire/client-frames.ts";
import type { FaultCode } from "../wire/fault.ts";
import type { Link } from "./link.ts";
import type { LinkFrame } from "./link-events.ts";

/** Which frame answers which request. Pulls and the catalog are the engine's: their answers keep their place among pushes. */
const ANSWERS = {
  "read-generation": "generation-page",
  "list-generations": "generations",
} as const satisfies Partial<Record<ClientFrame["type"], LinkFrame["type"]>>;

/** What may be asked. */
export type Asking = keyof typeof ANSWERS;
type RequestFrame<A extends Asking> = Extract<ClientFrame, { type: A }>;
type AnswerFrame = Extract<LinkFrame, { type: (typeof ANSWERS)[Asking] }>;
/** A request without the id, which is given here. */
export type Question<A extends Asking> = Omit<RequestFrame<A>, "id"> & { readonly type: A };
export type Answer<A extends Asking> = Extract<AnswerFrame, { type: (typeof ANSWERS)[A] }>;

interface Open {
  readonly expects: AnswerFrame["type"];
  readonly resolve: (answer: AnswerFrame) => void;
  readonly reject: (error: Error) => void;
}

/** Questions to the relay and their answers, matched by id. Each promise settles exactly once. */
export class Requests {
  readonly #link: Link;
  readonly #open = new Map<string, Open>();
  readonly #leave: () => void;
  #last = 0;

  constructor(link: Link) {
    this.#link = link;
    this.#leave = link.watch({
      frame: (frame) => this.#received(frame),
      offline: () => this.#lose(link.status.link !== "closed" && link.status.link !== "refused"),
    });
  }

  /**
   * Asks, and resolves with the answer.
   * @throws RejectedError when the relay cannot meet the request: `reason` is its code (P34).
   * @throws ConnectionError when there is no connection, or it ended before the answer came. Ask again when online.
   */
  ask<A extends Asking>(question: Question<A>): Promise<Answer<A>> {
    this.#last += 1;
    const id = `r${this.#last}`;
    return new Promise<Answer<A>>((resolve, reject) => {
      this.#open.set(id, {
        expects: ANSWERS[question.type],
        // Only an answer of the type expected gets here.
        resolve: (answer) => resolve(answer as Answer<A>),
        reject,
      });
      const sending = this.#link.send({ ...question, id } as RequestFrame<A>);
      if (sending === "sent") return;
      this.#open.delete(id);
      if (sending === "offline") reject(connectionLost(true));
      else reject(new RejectedError("The request is too large", { reason: "too-large" satisfies FaultCode }));
    });
  }

  /** Requests that wait for their answers. */
  get waiting(): number {
    return this.#open.size;
  }

  /** Rejects what waits, and hears nothing more. */
  close(): void {
    this.#leave();
    this.#lose(false);
  }

  #received(frame: LinkFrame): void {
    switch (frame.type) {
      case "generation-page":
      case "generations":
      case "not-answered":
        this.#settle(frame);
        break;
      default:
        break;
    }
  }

  #settle(frame: AnswerFrame | Extract<LinkFrame, { type: "not-answered" }>): void {
    const open = this.#open.get(frame.id);
    // Not asked here; a `not-answered` may be for a request of the engine.
    if (open === undefined) return;
    this.#open.delete(frame.id);
    if (frame.type === "not-answered") {
      open.reject(new RejectedError(frame.message, { reason: frame.code }));
    } else if (frame.type === open.expects) {
      open.resolve(frame);
    } else {
      const error = new ProtocolError(`The relay answered ${frame.type} where ${open.expects} was asked for`);
      open.reject(error);
      throw error;
    }
  }

  #lose(retryable: boolean): void {
    const open = [...this.#open.values()];
    this.#open.clear();
    for (const { reject } of open) reject(connectionLost(retryable));
  }
}

function connectionLost(retryable: boolean): ConnectionError {
  return new ConnectionError("There is no connection to the relay", { retryable });
}
