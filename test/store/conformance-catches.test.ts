import { describe, expect, test } from "vitest";
import { ConflictError } from "../../src/model/errors.ts";
import { createMessage, type MessageInput } from "../../src/model/message.ts";
import type { Snapshot } from "../../src/model/snapshot.ts";
import type { AppendWrite, ReplaceWrite, Scope, SessionStore } from "../../src/store/contract.ts";
import { MemoryStore } from "../../src/store/memory-store.ts";
import { storeConformance } from "../../src/testing/store-conformance.ts";

/** The ids of the rules that a store breaks. */
async function broken(makeStore: () => SessionStore, options = {}): Promise<string[]> {
  const ids: string[] = [];
  for (const { name, run } of storeConformance(async () => makeStore(), options)) {
    await run().catch(() => ids.push(name.slice(1, name.indexOf("]"))));
  }
  return ids;
}

class Forgetful extends MemoryStore {
  override async append(id: string, write: AppendWrite): Promise<Snapshot> {
    return super.append(id, { ...write, expectedGeneration: undefined });
  }
}
class Racing extends MemoryStore {
  override async append(id: string, write: AppendWrite): Promise<Snapshot> {
    const { revision } = (await super.load(id, write)) ?? { revision: { generation: 0, count: 0 } };
    if (revision.count !== write.expectedCount) {
      throw new ConflictError(undefined, {
        expected: { generation: write.expectedGeneration ?? 0, count: write.expectedCount },
        actual: revision,
      });
    }
    const all = [...((await super.load(id, write))?.messages ?? []), ...write.messages];
    return super.replace(id, { ...write, messages: all });
  }
}
class Blind extends MemoryStore {
  override load(id: string, _: Scope): Promise<Snapshot | undefined> {
    return super.load(id, {});
  }
  override append(id: string, { actorId: _, ...write }: AppendWrite): Promise<Snapshot> {
    return super.append(id, write);
  }
  override replace(id: string, { actorId: _, ...write }: ReplaceWrite): Promise<Snapshot> {
    return super.replace(id, write);
  }
}
class Overeager extends MemoryStore {
  override replace(id: string, { expected: _, ...write }: ReplaceWrite): Promise<Snapshot> {
    return super.replace(id, write);
  }
}
class Lending extends MemoryStore {
  readonly #states = new Map<string, Snapshot>();
  override async load(id: string, scope: Scope): Promise<Snapshot | undefined> {
    const snapshot = await super.load(id, scope);
    const lent = this.#states.get(id) ?? snapshot;
    if (lent !== undefined) this.#states.set(id, lent);
    return snapshot && lent && { ...snapshot, state: lent.state };
  }
}
class Unqueued extends MemoryStore {
  override synchronize<T>(_: string, __: Scope, work: () => Promise<T>): Promise<T> {
    return work();
  }
}
class Late extends MemoryStore {
  override async append(id: string, write: AppendWrite): Promise<Snapshot> {
    await Promise.resolve();
    return super.append(id, write);
  }
}
class Lossy extends MemoryStore {
  override append(id: string, write: AppendWrite): Promise<Snapshot> {
    const messages = write.messages.map((message: MessageInput) =>
      createMessage({ ...message, metadata: {} }),
    );
    return super.append(id, { ...write, messages });
  }
}

describe("The suite for stores", () => {
  test("[T8] finds nothing in a store that keeps the rules, whoever it belongs to", async () => {
    expect(await broken(() => new MemoryStore())).toEqual([]);
    const names = storeConformance(async () => new MemoryStore()).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const id of ["T1", "T2", "T3", "T4", "T5", "S13", "S15", "D3", "D4", "M9", "H10"]) {
      expect(names.some((name) => name.startsWith(`[${id}]`))).toBe(true);
    }
  });

  test.each([
    ["forgets the generation", Forgetful, "T2"],
    ["checks the count before it writes, not while", Racing, "T1"],
    ["does not look at actors", Blind, "T3"],
    ["replaces whatever is expected", Overeager, "S6"],
    ["lends out its own state", Lending, "D4"],
    ["runs work as it comes", Unqueued, "S13"],
    ["copies what it is given too late", Late, "D4"],
    ["loses metadata of messages", Lossy, "M4"],
  ])("[T8] finds out a store that %s", async (_, Store, rule) => {
    expect(await broken(() => new Store())).toContain(rule);
  });

  test("[T8] a store of one actor is asked in that actor's name, and must refuse others", async () => {
    expect(await broken(() => new Blind(), { actorId: "ann" })).toContain("T3");
  });
});
