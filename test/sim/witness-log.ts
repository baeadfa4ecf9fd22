import type { Accepted, Answer, OpWrite, Write } from "../../server/storage/contract.ts";
import { type Head, headEquals } from "../../src/model/revision.ts";
import type { Log } from "./linearizable.ts";

interface Life {
  readonly generations: string[][];
}

/**
 * What the relay's logs must be, worked out from its answers alone and without its code: the oracle of a world. It tells
 * of each answer that should have been another one (H3, H4).
 */
export class WitnessLog {
  readonly problems: string[] = [];
  /** Every message that ever stood in a log. */
  readonly ever = new Set<string>();
  readonly #lives = new Map<string, Life>();
  readonly #done = new Map<string, Accepted>();

  /** The generations of the session's only life, the oldest first. */
  logOf(actor: string, session: string): Log {
    const found = [...this.#lives].filter(([name]) => name.startsWith(`${actor}/${session}/`));
    return found.at(-1)?.[1].generations ?? [];
  }

  /** The generations of one life; undefined for one that never was. */
  life(actor: string, session: string, incarnation: string): Log | undefined {
    return this.#lives.get(`${actor}/${session}/${incarnation}`)?.generations;
  }

  took(write: Write, answer: Answer): void {
    if (write.kind === "state") return;
    if (answer.ok) this.#accepted(write, answer);
    else if (write.kind === "append" || write.kind === "replace") this.#refused(write, answer);
  }

  #accepted(write: OpWrite, answer: Accepted): void {
    const op = `${write.actor}/${write.session}/${write.opId}`;
    const before = this.#done.get(op);
    if (before !== undefined) {
      if (answer.outcome !== "known") this.#tell(write, `was applied twice`);
      else if (!headEquals(before.head, answer.head)) this.#tell(write, "got another answer than at first");
      return;
    }
    if (answer.outcome === "known") this.#tell(write, "is called known and was never applied");
    this.#done.set(op, answer);
    if (write.kind !== "append" && write.kind !== "replace") return;
    const name = `${write.actor}/${write.session}/${answer.incarnation}`;
    const life = this.#lives.get(name) ?? { generations: [[]] };
    this.#lives.set(name, life);
    const ids = write.messages.map(({ id }) => id);
    for (const id of ids) this.ever.add(id);
    if (answer.outcome === "present") {
      const there = life.generations[write.base.generation]?.slice(write.base.count) ?? [];
      if (ids.some((id, n) => there[n] !== id)) this.#tell(write, "is called present and is not there");
      return;
    }
    if (!headEquals(write.base, headOf(life)))
      this.#tell(write, `was accepted on ${show(write.base)}, at ${show(headOf(life))}`);
    if (write.kind === "append") life.generations.at(-1)?.push(...ids);
    else {
      const kept = life.generations[write.keep.generation]?.slice(0, write.keep.count) ?? [];
      life.generations.push([...kept, ...ids]);
    }
    if (!headEquals(answer.head, headOf(life)))
      this.#tell(write, `is told to end at ${show(answer.head)}, not ${show(headOf(life))}`);
    const log = life.generations.at(-1) ?? [];
    if (new Set(log).size < log.length) this.#tell(write, "doubled a message");
  }

  #refused(write: OpWrite & { base: Head }, answer: Answer & { ok: false }): void {
    if (answer.code !== "conflict" || answer.actual === undefined) return;
    const life = this.#lives.get(`${write.actor}/${write.session}/${answer.actual.incarnation}`);
    const head = headOf(life ?? { generations: [[]] });
    if (!headEquals(answer.actual.head, head))
      this.#tell(write, `was refused for ${show(answer.actual.head)}, at ${show(head)}`);
    if (headEquals(write.base, head)) this.#tell(write, "was refused on the head it named");
  }

  #tell(write: OpWrite, what: string): void {
    this.problems.push(`${write.kind} ${write.opId} of ${write.session} ${what}`);
  }
}

function headOf({ generations }: Life): Head {
  const log = generations.at(-1) ?? [];
  return { generation: generations.length - 1, count: log.length, lastId: log.at(-1) ?? null };
}

function show({ generation, count, lastId }: Head): string {
  return `${generation}/${count}/${lastId}`;
}
