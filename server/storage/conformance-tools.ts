import { silentReporter } from "../../src/env/reporter.ts";
import { type JsonValue, jsonEquals } from "../../src/model/json.ts";
import { EMPTY_HEAD, type Head } from "../../src/model/revision.ts";
import type {
  Absent,
  Accepted,
  Answer,
  AppendWrite,
  DeleteWrite,
  EditWrite,
  MessageBody,
  PageBounds,
  PullAnswer,
  PullQuestion,
  Refused,
  RelayStorage,
  ReplaceWrite,
  StorageHost,
  StorageLimits,
} from "./contract.ts";

/** A storage that was made for one test, opened, and how to open it again as after a restart. */
export interface OpenedStorage {
  readonly storage: RelayStorage;
  reopen(): Promise<void>;
}

/** A test as the suite's files write it. */
export interface StorageCheck {
  readonly name: string;
  readonly limits?: Partial<StorageLimits>;
  check(opened: OpenedStorage): Promise<void>;
}

/** What the suite opens storages with: a clock that ticks once a call, ids that count. */
export function testHost(limits: Partial<StorageLimits> = {}): StorageHost {
  let nowMs = Date.UTC(2025, 0, 1);
  let ids = 0;
  return {
    now: () => {
      nowMs += 1;
      return nowMs;
    },
    newId: () => {
      ids += 1;
      return `id-${ids}`;
    },
    limits: {
      maxMetadataBytes: 10_000,
      maxStateBytes: 10_000,
      maxSessionsPerActor: 100,
      maxTailMessages: 3,
      maxTailBytes: 10_000,
      ...limits,
    },
    reporter: silentReporter,
    durability: "power",
  };
}

export const WIDE: PageBounds = { maxMessages: 1_000, maxBytes: 1_000_000 };

export function bodies(...ids: string[]): MessageBody[] {
  return ids.map((id) => ({ id, body: JSON.stringify({ id, text: `text of ${id}` }) }));
}

/** A session as one writer sees it: its writes name what it was last told. */
export class Writer {
  readonly #storage: RelayStorage;
  readonly actor: string;
  readonly session: string;
  #ops = 0;
  incarnation: string | null = null;
  head: Head = EMPTY_HEAD;

  constructor(storage: RelayStorage, names: { actor?: string; session?: string } = {}) {
    this.#storage = storage;
    this.actor = names.actor ?? "ann";
    this.session = names.session ?? "s";
  }

  append(ids: readonly string[], more: Partial<AppendWrite> = {}): AppendWrite {
    return { kind: "append", ...this.#fields(), base: this.head, messages: bodies(...ids), ...more };
  }

  replace(ids: readonly string[], more: Partial<ReplaceWrite> = {}): ReplaceWrite {
    const keep = { generation: this.head.generation, count: 0 };
    return { kind: "replace", ...this.#fields(), base: this.head, keep, messages: bodies(...ids), ...more };
  }

  edit(more: Partial<EditWrite>): EditWrite {
    return { kind: "edit", ...this.#fields(), ...more };
  }

  remove(more: Partial<DeleteWrite> = {}): DeleteWrite {
    return { kind: "delete", ...this.#fields(), ...more };
  }

  /** Applies it, which must succeed, and knows what it is told. */
  async does(write: AppendWrite | ReplaceWrite | EditWrite | DeleteWrite): Promise<Accepted> {
    const answer = accepted(await this.#storage.apply(write));
    this.incarnation = answer.incarnation;
    this.head = answer.head;
    return answer;
  }

  async state(update: Uint8Array): Promise<Answer> {
    const { actor, session, incarnation } = this;
    return this.#storage.apply({ kind: "state", actor, session, incarnation: incarnation ?? "", update });
  }

  async pull(question: Partial<PullQuestion> = {}): Promise<PullAnswer> {
    const { actor, session, incarnation } = this;
    const whole = { have: null, stateCursor: 0, ...WIDE, ...question };
    return present(await this.#storage.pull({ actor, session, incarnation }, whole));
  }

  async ids(question: Partial<PullQuestion> = {}): Promise<string[]> {
    return (await this.pull(question)).messages.map(({ id }) => id);
  }

  /** A head at a position of the log it last wrote, as another writer may still hold it. */
  at(count: number, lastId: string | null, generation = this.head.generation): Head {
    return { generation, count, lastId };
  }

  #fields(): { actor: string; session: string; incarnation: string | null; opId: string; digest: string } {
    this.#ops += 1;
    const { actor, session, incarnation } = this;
    return { actor, session, incarnation, opId: `op-${this.#ops}`, digest: `digest-${this.#ops}` };
  }
}

export function accepted(answer: Answer): Accepted {
  if (answer.ok) return answer;
  throw new Error(`Refused: ${answer.code} (${answer.message})`);
}

export function refused(answer: Answer): Refused {
  if (!answer.ok) return answer;
  throw new Error(`Accepted as ${answer.outcome}, and should have been refused`);
}

export function present<T extends object>(answer: T | Absent): T {
  if (!("absent" in answer)) return answer;
  throw new Error(`Absent: ${answer.absent}`);
}

/** By value; what is undefined is absent. */
export function same(actual: unknown, expected: unknown, what: string): void {
  const [one, other] = [plain(actual), plain(expected)];
  if (jsonEquals(one, other)) return;
  throw new Error(`${what}: expected ${JSON.stringify(other)}, got ${JSON.stringify(one)}`);
}

function plain(value: unknown): JsonValue {
  if (value === undefined) return null;
  return JSON.parse(
    JSON.stringify(value, (_, inner: unknown) => (inner instanceof Uint8Array ? [...inner] : inner)),
  );
}
