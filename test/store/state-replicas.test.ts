import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as Y from "yjs";
import type { JsonObject, JsonValue } from "../../src/model/json.ts";
import { applyChanges, diffState, forkWith, readState } from "../../src/store/state-document.ts";
import { anyState } from "./state-json.ts";

const write = (doc: Y.Doc, state: JsonObject): Uint8Array | undefined =>
  applyChanges(doc, diffState(readState(doc), state));

function documentOf(...states: readonly JsonObject[]): Y.Doc {
  const doc = new Y.Doc();
  for (const state of states) write(doc, state);
  return doc;
}

function exchange(...docs: readonly Y.Doc[]): void {
  const updates = docs.map((doc) => Y.encodeStateAsUpdate(doc));
  for (const doc of docs) for (const update of updates) Y.applyUpdate(doc, update);
}

describe("Replicas", () => {
  test("[H6] with the same updates, in any order and doubled, they have the same state", () => {
    const script = fc.array(fc.tuple(fc.nat(2), anyState), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(anyState, script, fc.infiniteStream(fc.nat()), (base, steps, order) => {
        const root = Y.encodeStateAsUpdate(documentOf(base));
        const replicas = [0, 1, 2].map(() => forkWith(new Y.Doc(), [root]));
        const updates: Uint8Array[] = [root];
        for (const replica of replicas) replica.on("update", (update: Uint8Array) => updates.push(update));
        for (const [at, state] of steps) write(replicas[at] ?? new Y.Doc(), state);
        const states = [0, 1, 2].map(() => {
          const late = new Y.Doc();
          const queue = [...updates, ...updates];
          while (queue.length > 0) {
            const [update] = queue.splice((order.next().value ?? 0) % queue.length, 1);
            if (update !== undefined) Y.applyUpdate(late, update);
          }
          return readState(late);
        });
        exchange(...replicas);
        for (const state of [...states, ...replicas.slice(1).map(readState)]) {
          expect(state).toEqual(readState(replicas[0] ?? new Y.Doc()));
        }
      }),
      { numRuns: 300 },
    );
  });

  test("[H6] concurrent changes of different leaves all survive, also where both made the parents while apart", () => {
    const place = fc.array(fc.constantFrom("a", "b", "__proto__", "/", ""), { minLength: 1, maxLength: 3 });
    const unrelated = fc
      .uniqueArray(place, { minLength: 2, maxLength: 6, selector: (names) => JSON.stringify(names) })
      .map((places) =>
        places.filter(
          (one) => !places.some((two) => two !== one && one.every((name, at) => two[at] === name)),
        ),
      );
    fc.assert(
      fc.property(unrelated, (places) => {
        const docs = places.map((names, at) => documentOf(nested(names, at)));
        exchange(...docs);
        for (const doc of docs) {
          for (const [at, names] of places.entries()) expect(valueAt(readState(doc), names)).toBe(at);
        }
      }),
      { numRuns: 500 },
    );
  });

  test("[H6] two pushes on an array that both had both survive, and a change and a push beside them", () => {
    const base = documentOf({ list: ["x", { y: 1 }] });
    const [one, two, three] = [forkWith(base), forkWith(base), forkWith(base)];
    write(one, { list: ["x", { y: 1 }, "one"] });
    write(two, { list: ["x", { y: 1 }, "two"] });
    write(three, { list: ["changed", { y: 1 }] });
    exchange(one, two, three);
    expect(readState(two)).toEqual(readState(one));
    expect(readState(three)).toEqual(readState(one));
    const list = readState(one).list as JsonValue[];
    expect(list).toHaveLength(4);
    expect(list).toEqual(expect.arrayContaining(["changed", { y: 1 }, "one", "two"]));
  });

  test("[H6] arrays created apart at one place: one wins whole, the same one everywhere", () => {
    const one = documentOf({ list: [1, 2] });
    const two = documentOf({ list: [3] });
    exchange(one, two);
    expect(readState(one)).toEqual(readState(two));
    expect([[1, 2], [3]]).toContainEqual(readState(one).list);
  });

  test("[H6] a fork holds the document and the updates over it, and leaves the document as it was", () => {
    const doc = documentOf({ a: 1 });
    const other = forkWith(doc);
    const update = write(other, { a: 1, b: 2 });
    const fork = forkWith(doc, update === undefined ? [] : [update]);
    expect(readState(fork)).toEqual({ a: 1, b: 2 });
    expect(readState(doc)).toEqual({ a: 1 });
  });
});

function nested(names: readonly string[], leaf: JsonValue): JsonObject {
  return names.reduceRight<JsonValue>(
    (inner, name) => Object.fromEntries([[name, inner]]),
    leaf,
  ) as JsonObject;
}

function valueAt(state: JsonValue | undefined, names: readonly string[]): JsonValue | undefined {
  return names.reduce<JsonValue | undefined>(
    (value, name) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, name)
        ? (value as JsonObject)[name]
        : undefined,
    state,
  );
}
