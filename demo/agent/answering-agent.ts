import {
  type Client,
  ConflictError,
  createMessage,
  Invocation,
  type Message,
  type MessageInput,
  RejectedError,
  type SessionEntry,
  type SyncedSession,
  textOf,
} from "holdfast";
import { answerId } from "./answer-id.ts";
import type { AskedFields, Responder } from "./responder.ts";

interface AgentOptions {
  readonly client: Client;
  readonly respond: Responder;
  readonly now: () => Date;
  readonly timeZone: string;
  /** Between two words of an answer. */
  readonly pause: () => Promise<void>;
  readonly report: (event: string, error: unknown) => void;
}

/** Answers whatever one actor asks, in all of their conversations, for as long as it runs. */
export class AnsweringAgent {
  readonly #options: AgentOptions;
  /** How long each conversation was when it was last looked at to the end. */
  readonly #seen = new Map<string, number>();
  readonly #busy = new Set<string>();
  /** Conversations that changed while they were being answered. */
  readonly #missed = new Set<string>();
  readonly #unsubscribe: () => void;
  #scanning = false;
  #changed = false;
  #closed = false;

  constructor(options: AgentOptions) {
    this.#options = options;
    this.#unsubscribe = options.client.sessions.subscribe(() => this.#scan());
    this.#scan();
  }

  /** Ends answering; what is on its way to the relay is given the chance to arrive. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#unsubscribe();
    await this.#options.client.flush({ timeoutMs: 2_000 });
    await this.#options.client.close();
  }

  #scan(): void {
    this.#changed = true;
    if (this.#scanning) return;
    this.#scanning = true;
    this.#scanWhileChanged()
      .catch((error: unknown) => this.#report("agent.scan", error))
      .finally(() => {
        this.#scanning = false;
      });
  }

  async #scanWhileChanged(): Promise<void> {
    while (this.#changed && !this.#closed) {
      this.#changed = false;
      let before: string | undefined;
      do {
        const page = await this.#options.client.sessions.list(
          before === undefined ? { limit: 200 } : { limit: 200, before },
        );
        for (const entry of page.entries) if (this.#isNew(entry)) this.#look(entry);
        before = page.next;
      } while (before !== undefined && !this.#closed);
    }
  }

  #isNew({ id, count, metadata: { imported } }: SessionEntry): boolean {
    // Nobody waits for an answer to what was brought in from elsewhere.
    if (typeof imported === "number" && count <= imported) return false;
    if (this.#seen.get(id) === count) return false;
    if (!this.#busy.has(id)) return true;
    this.#missed.add(id);
    return false;
  }

  #look({ id, count }: SessionEntry): void {
    this.#busy.add(id);
    this.#answer(id)
      .catch((error: unknown) => {
        // Not tried again until something changes: what fails now would fail again at once.
        this.#seen.set(id, count);
        this.#report("agent.answer", error);
      })
      .finally(() => {
        this.#busy.delete(id);
        if (this.#missed.delete(id)) this.#scan();
      });
  }

  async #answer(id: string): Promise<void> {
    const session = this.#options.client.session(id);
    try {
      const history = await session.history();
      const open = openQuestion(history, (await session.metadata()).imported);
      if (open !== undefined && !this.#closed) await this.#appendAnswer(session, open);
      else this.#seen.set(id, history.length);
    } finally {
      await session.close();
    }
  }

  async #appendAnswer(session: SyncedSession, { message, history }: OpenQuestion): Promise<void> {
    const { client, respond, now, timeZone } = this.#options;
    const asked = new Invocation<AskedFields>({
      message,
      history: history.filter(({ id }) => id !== message.id),
      sessionId: session.id,
      actorId: client.actorId,
      context: { surroundings: { now: now(), timeZone } },
    });
    const answer = await respond(asked);
    const messages = answer.map((one, n) => ({ ...one, id: answerId(message.id, n) }));
    const isLate = async (): Promise<boolean> => (await session.history()).at(-1)?.id !== history.at(-1)?.id;
    const shown = (await isLate()) ? undefined : await this.#show(session, messages, message.id);
    try {
      // Somebody wrote while the answer was made, a person or another agent: then the question is another one.
      if (shown === undefined || (await isLate())) this.#missed.add(session.id);
      else await this.#append(session, shown.messages);
    } finally {
      shown?.end();
    }
  }

  /** Streams the last message's words, until all are said or a person stops the run that is named for the question. */
  async #show(
    session: SyncedSession,
    messages: readonly (MessageInput & { readonly id: string })[],
    runId: string,
  ): Promise<{ readonly messages: readonly MessageInput[]; readonly end: () => void }> {
    const last = messages.at(-1);
    const words = last === undefined ? null : textOf(createMessage(last)).match(/\s*\S+/g);
    if (last === undefined || words === null) return { messages, end: () => {} };
    const stream = session.stream({ id: last.id, runId });
    let stopped = false;
    const look = async (): Promise<void> => {
      stopped = (await session.state()).stoppedRun === runId;
    };
    const unsubscribe = session.subscribe(() => void look().catch(() => {}));
    for (const word of words) {
      if (stopped || this.#closed) break;
      stream.write(word);
      await this.#options.pause();
    }
    unsubscribe();
    const end = (): void => stream.discard();
    if (!stopped) return { messages, end };
    const cut = { ...last, content: stream.text, metadata: { ...last.metadata, stopped: true, runId } };
    return { messages: [...messages.slice(0, -1), cut], end };
  }

  async #append(session: SyncedSession, messages: readonly MessageInput[]): Promise<void> {
    try {
      // Refused when what they wrote is on the relay and not here yet.
      const after = await session.append({ messages }, { onConflict: "reject", until: "confirmed" });
      this.#seen.set(session.id, after.revision.count);
    } catch (error) {
      if (!(error instanceof ConflictError || error instanceof RejectedError)) throw error;
      // An answer that came too late, or that another agent gave already, is of no use to anybody.
      await this.#discard(session.id);
      if (error instanceof RejectedError) throw error;
      this.#missed.add(session.id);
    }
  }

  async #discard(sessionId: string): Promise<void> {
    const { rejected } = this.#options.client;
    const late = (await rejected.list()).filter((op) => op.sessionId === sessionId);
    for (const { opId } of late) await rejected.discard(opId);
  }

  #report(event: string, error: unknown): void {
    if (!this.#closed) this.#options.report(event, error);
  }
}

interface OpenQuestion {
  readonly message: Message;
  /** The whole log; what came before the question is what the responder is told as history. */
  readonly history: readonly Message[];
}

/** The last thing a person said, unless its answer is in the log already or it came from an import. */
function openQuestion(history: readonly Message[], imported: unknown): OpenQuestion | undefined {
  const at = history.findLastIndex(({ role }) => role === "user");
  const message = history[at];
  if (message === undefined || (typeof imported === "number" && at < imported)) return undefined;
  const answered = history.slice(at + 1).some(({ id }) => id === answerId(message.id, 0));
  return answered ? undefined : { message, history };
}
