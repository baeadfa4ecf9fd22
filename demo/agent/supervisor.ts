import { type Client, HoldfastError } from "holdfast";
import { AnsweringAgent } from "./answering-agent.ts";
import type { Responder } from "./responder.ts";

interface SupervisorOptions {
  readonly open: (actorId: string) => Promise<Client>;
  readonly respond: Responder;
  /** Between two words of an answer. */
  readonly wordMs: number;
  readonly report: (event: string, error?: unknown) => void;
}

/** More actors than this are not served at once; the one that asked longest ago leaves first. */
const maxActors = 50;

/** One answering agent for each actor that asked for one. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #agents = new Map<string, Promise<AnsweringAgent>>();

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /** Has the actor's conversations answered from now on; again is once. Rejects when no client could be opened. */
  async join(actorId: string): Promise<void> {
    const running = this.#agents.get(actorId) ?? this.#start(actorId);
    // Re-inserted, so that the first of the map is the one that asked longest ago.
    this.#agents.delete(actorId);
    this.#agents.set(actorId, running);
    try {
      await running;
    } catch (error) {
      this.#agents.delete(actorId);
      throw error;
    }
    const oldest = this.#agents.keys().next().value;
    if (this.#agents.size > maxActors && oldest !== undefined) await this.#leave(oldest);
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#agents.keys()].map((actorId) => this.#leave(actorId)));
  }

  async #start(actorId: string): Promise<AnsweringAgent> {
    const { open, respond, wordMs, report } = this.#options;
    const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, wordMs));
    const client = await open(actorId);
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    return new AnsweringAgent({ client, respond, now: () => new Date(), timeZone, pause, report });
  }

  async #leave(actorId: string): Promise<void> {
    const running = this.#agents.get(actorId);
    this.#agents.delete(actorId);
    try {
      await (await running)?.close();
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      this.#options.report("agent.leave", error);
    }
  }
}
