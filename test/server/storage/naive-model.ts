import type { Answer, OpWrite, Write } from "../../../server/storage/contract.ts";

// The answer table once more, as naively as it can be said: whole logs are copied, ops are kept in a map, and nothing
// is shared with the relay's own decider but the shapes of writes.

interface Life {
  incarnation: number;
  deleted: boolean;
  logs: string[][];
  state: number[];
  metadata: Map<string, unknown>;
  archived: boolean;
  read: [generation: number, count: number];
}

interface Told {
  ok: boolean;
  said: string;
  incarnation?: number;
  head?: { generation: number; count: number; lastId: string | null };
  added?: number;
  seq?: number;
  stateCursor?: number;
}

export class NaiveRelay {
  readonly #sessions = new Map<string, Life>();
  readonly #ops = new Map<string, { digest: string; told: Told }>();
  readonly #incarnations: string[] = [];
  position = 0;

  /** The answer, as `comparable` gives a storage's. */
  apply(write: Write): Told {
    if (write.kind === "state") {
      const life = this.#sessions.get(write.session);
      if (life === undefined || life.deleted || write.incarnation !== this.#name(life)) return no("deleted");
      life.state.push(write.update[0] ?? 0);
      this.position += 1;
      return { ok: true, said: "applied", ...this.#standing(life), added: 0, seq: this.position };
    }
    const key = `${write.session} ${write.opId}`;
    const known = this.#ops.get(key);
    if (known !== undefined) {
      return known.digest === write.digest ? { ...known.told, said: "known", seq: 0 } : no("op-reused");
    }
    const told = this.#first(write);
    if (told.ok) this.#ops.set(key, { digest: write.digest, told });
    return told;
  }

  log(session: string): string[] | undefined {
    const life = this.#sessions.get(session);
    return life === undefined || life.deleted ? undefined : [...this.#current(life)];
  }

  generation(session: string, generation: number): string[] | undefined {
    return this.#sessions.get(session)?.logs[generation];
  }

  generations(session: string): number {
    return this.#sessions.get(session)?.logs.length ?? 0;
  }

  state(session: string): number[] {
    return this.#sessions.get(session)?.state ?? [];
  }

  metadata(session: string): Record<string, unknown> {
    return Object.fromEntries(this.#sessions.get(session)?.metadata ?? []);
  }

  incarnationOf(session: string): string | null {
    const life = this.#sessions.get(session);
    return life === undefined ? null : this.#name(life);
  }

  /** What the storage calls its lives, learned as it names them. */
  learn(incarnation: string): number {
    if (!this.#incarnations.includes(incarnation)) this.#incarnations.push(incarnation);
    return this.#incarnations.indexOf(incarnation);
  }

  #name(life: Life): string {
    return this.#incarnations[life.incarnation] ?? `unnamed ${life.incarnation}`;
  }

  #first(write: OpWrite): Told {
    let life = this.#sessions.get(write.session);
    const alive = life !== undefined && !life.deleted;
    if (write.incarnation !== null) {
      if (life === undefined || write.incarnation !== this.#name(life)) return no("deleted");
      if (!alive) return write.kind === "delete" ? this.#nothing(life) : no("deleted");
    } else if (!alive) {
      if (write.kind === "delete" && life !== undefined) return this.#nothing(life);
      const based = write.kind === "append" || write.kind === "replace";
      if (based && (write.base.generation !== 0 || write.base.count !== 0 || write.base.lastId !== null)) {
        return no(life === undefined ? "conflict" : "deleted");
      }
      const born: Life = {
        incarnation: this.#incarnations.length,
        deleted: false,
        logs: [[]],
        state: [],
        metadata: new Map(),
        archived: false,
        read: [0, 0],
      };
      const told = this.#onto(write, born, true);
      if (told.ok) this.#sessions.set(write.session, born);
      return told;
    }
    life = this.#sessions.get(write.session);
    return life === undefined ? no("deleted") : this.#onto(write, life, false);
  }

  #onto(write: OpWrite, life: Life, born: boolean): Told {
    const log = this.#current(life);
    switch (write.kind) {
      case "delete":
        life.deleted = true;
        life.metadata.clear();
        life.state = life.state.map(() => 0);
        return this.#done(life, true);
      case "edit": {
        const { archived, read } = write;
        let changed = born;
        if (archived !== undefined && archived !== life.archived) {
          life.archived = archived;
          changed = true;
        }
        const [generation, count] = life.read;
        if (
          read &&
          (read.generation > generation || (read.generation === generation && read.count > count))
        ) {
          life.read = [read.generation, read.count];
          changed = true;
        }
        return this.#done(life, this.#merge(write, life) || changed);
      }
      case "append":
      case "replace": {
        const ids = write.messages.map(({ id }) => id);
        const { base } = write;
        if (write.kind === "append" && base.generation === life.logs.length - 1 && ids.length > 0) {
          const there = log.slice(base.count, base.count + ids.length);
          const equal = ids.filter((id, index) => there[index] === id).length;
          if (equal === ids.length) {
            const changed = this.#merge(write, life);
            const head = {
              generation: base.generation,
              count: base.count + ids.length,
              lastId: ids.at(-1) ?? null,
            };
            return { ...this.#done(life, changed), said: "present", head, added: ids.length };
          }
          if (equal > 0) return no("overlap");
        }
        const last = log.at(-1) ?? null;
        const same =
          base.generation === life.logs.length - 1 && base.count === log.length && base.lastId === last;
        if (!same) return no("conflict");
        const kept = write.kind === "append" ? log : life.logs[write.keep.generation];
        if (kept === undefined) return no("malformed");
        const keptCount = write.kind === "append" ? log.length : write.keep.count;
        if (keptCount > kept.length) return no("malformed");
        const next = [...kept.slice(0, keptCount), ...ids];
        if (new Set(next).size < next.length) return no("duplicate-id");
        if (write.kind === "append") life.logs[life.logs.length - 1] = next;
        else life.logs.push(next);
        const merged = this.#merge(write, life);
        const changed = born || merged || ids.length > 0 || write.kind === "replace";
        return { ...this.#done(life, changed), added: ids.length };
      }
    }
  }

  /** State and flat metadata; answers whether anything changed. */
  #merge(write: Exclude<OpWrite, { kind: "delete" }>, life: Life): boolean {
    let changed = false;
    if (write.kind !== "edit" && write.state !== undefined) {
      life.state.push(write.state[0] ?? 0);
      changed = true;
    }
    const before = JSON.stringify([...life.metadata].sort());
    for (const { at, value } of write.metadata ?? []) {
      if (value === undefined) life.metadata.delete(at.slice(1));
      else life.metadata.set(at.slice(1), value);
    }
    return changed || before !== JSON.stringify([...life.metadata].sort());
  }

  #current(life: Life): string[] {
    return life.logs.at(-1) ?? [];
  }

  #standing(life: Life): Pick<Told, "incarnation" | "head" | "stateCursor"> {
    const log = this.#current(life);
    return {
      incarnation: life.incarnation,
      head: { generation: life.logs.length - 1, count: log.length, lastId: log.at(-1) ?? null },
      stateCursor: life.state.length,
    };
  }

  #done(life: Life, changed: boolean): Told {
    if (changed) this.position += 1;
    return { ok: true, said: "applied", ...this.#standing(life), added: 0, seq: changed ? this.position : 0 };
  }

  #nothing(life: Life): Told {
    return { ok: true, said: "applied", ...this.#standing(life), added: 0, seq: 0 };
  }
}

function no(said: string): Told {
  return { ok: false, said };
}

/** A storage's answer as the naive one says it. */
export function comparable(answer: Answer, naive: NaiveRelay): Told {
  if (!answer.ok) return no(answer.code);
  const { outcome, head, added, seq, stateCursor } = answer;
  return {
    ok: true,
    said: outcome,
    incarnation: naive.learn(answer.incarnation),
    head,
    added,
    seq,
    stateCursor,
  };
}
