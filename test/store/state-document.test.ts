import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as Y from "yjs";
import type { JsonObject, JsonValue } from "../../src/model/json.ts";
import { applyChanges, diffState, readState } from "../../src/store/state-document.ts";
import { anyJson, anyState } from "./state-json.ts";

const write = (doc: Y.Doc, state: JsonObject): Uint8Array | undefined =>
  applyChanges(doc, diffState(readState(doc), state));

function documentOf(...states: readonly JsonObject[]): Y.Doc {
  const doc = new Y.Doc();
  for (const state of states) write(doc, state);
  return doc;
}

/** What anybody who holds the document may have put into its map. */
const foreignEntries = fc.array(
  fc.tuple(
    fc.constantFrom("/a", "/a/b", "/a/b/plan", "/plan", "plan", "", "/", "/~", "/~2", "/__proto__/a", "/b/0"),
    fc.oneof(
      anyJson.filter(
        (value) => typeof value !== "object" || value === null || Object.keys(value).length === 0,
      ),
      fc.constantFrom<() => unknown>(
        () => undefined,
        () => Number.NaN,
        () => 5n,
        () => new Uint8Array([1]),
        () => new Y.Text("text"),
        () =>
          new Y.Map([
            ["a", new Y.Map([["b", 1]])],
            ["plan", 2],
          ]),
        () => Y.Array.from([1, new Y.Map([["x", 1]]) as never]),
        () => ({ b: { plan: 1, a: [undefined] }, constructors: 1 }),
        () => [1, { a: 2 }],
      ),
    ),
  ),
  { maxLength: 6 },
);
function foreignDocument(entries: readonly (readonly [string, unknown])[]): Y.Doc {
  const doc = new Y.Doc();
  const map = doc.getMap("state");
  for (const [at, value] of entries) {
    const made: unknown = typeof value === "function" ? value() : value;
    map.set(at, Array.isArray(made) && made.length === 0 ? [] : made);
  }
  return doc;
}

describe("The layout of a state's document", () => {
  test("[P60] leaves stand under their JSON Pointers, arrays as shared arrays", () => {
    const doc = documentOf({ plan: { step: 2, none: {} }, tags: ["a", { b: 1 }], "a/b~c": null, "": true });
    const map = doc.getMap("state");
    expect([...map.keys()].sort()).toEqual(["/", "/a~1b~0c", "/plan/none", "/plan/step", "/tags"]);
    expect(map.get("/plan/step")).toBe(2);
    expect(map.get("/plan/none")).toEqual({});
    expect(map.get("/tags")).toBeInstanceOf(Y.Array);
    expect((map.get("/tags") as Y.Array<unknown>).toJSON()).toEqual(["a", { b: 1 }]);
  });

  test("[P61] keys apply in the order of their code units, and what stands below wins", () => {
    const doc = new Y.Doc();
    const map = doc.getMap("state");
    for (const [at, value] of [
      ["/a/b", 2],
      ["/a", 1],
      ["/list", Y.Array.from([1])],
      ["/list/x/y", "deep"],
      ["/list/x", {}],
      ["/empty", {}],
    ] as const) {
      map.set(at, value);
    }
    expect(readState(doc)).toEqual({ a: { b: 2 }, list: { x: { y: "deep" } }, empty: {} });
  });

  test("[D3] any name is data: __proto__ and constructor come back as keys, and no prototype is touched", () => {
    const awkward = JSON.parse(
      '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":1}},"list":[{"__proto__":[1,{"__proto__":2}]},{"constructor":3}]}',
    ) as JsonObject;
    const other = new Y.Doc();
    Y.applyUpdate(other, Y.encodeStateAsUpdate(documentOf(awkward)));
    expect(JSON.stringify(readState(other))).toBe(JSON.stringify(awkward));
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test("[D4] what is read is a fresh copy, and what was written is the document's own", () => {
    const list: JsonObject[] = [{ x: 1 }];
    const state = { list };
    const doc = documentOf(state as unknown as JsonObject);
    (list[0] as JsonObject).x = 99;
    const read = readState(doc);
    ((read.list as JsonObject[])[0] as JsonObject).x = 98;
    expect(readState(doc)).toEqual({ list: [{ x: 1 }] });
  });

  test("[D2] half a surrogate pair is refused with its place, before anything is applied", () => {
    const doc = documentOf({ kept: 1 });
    const bad: JsonObject[] = [
      { kept: 2, plan: { title: "\ud800" } },
      { kept: 2, "\udc00": 1 },
      { kept: 2, list: [{ x: ["\ud800x"] }] },
    ];
    for (const state of bad) {
      expect(() => write(doc, state)).toThrow(expect.objectContaining({ code: "invalid-input" }));
    }
    expect(() => write(doc, bad[0] ?? {})).toThrow("state.plan.title must not hold half a surrogate pair");
    expect(readState(doc)).toEqual({ kept: 1 });
    expect(readState(documentOf({ pair: "😀" }))).toEqual({ pair: "😀" });
  });

  test("[P61] whatever stands in the document reads as JSON, and writing any state over it gives that state", () => {
    fc.assert(
      fc.property(foreignEntries, anyState, (entries, state) => {
        const doc = foreignDocument(entries);
        const read = readState(doc);
        expect(JSON.parse(JSON.stringify(read))).toEqual(read);
        expect(write(doc, read)).toBeUndefined();
        write(doc, state);
        expect(readState(doc)).toEqual(state);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("Writing a whole state", () => {
  test("[P62] after the difference is applied the document holds the new state, however often it changed before", () => {
    fc.assert(
      fc.property(fc.array(anyState, { minLength: 1, maxLength: 5 }), (states) => {
        const doc = new Y.Doc();
        for (const state of states) {
          write(doc, state);
          expect(readState(doc)).toEqual(state);
          expect(JSON.stringify(sorted(readState(doc)))).toBe(JSON.stringify(sorted(state)));
        }
        const copy = new Y.Doc();
        Y.applyUpdate(copy, Y.encodeStateAsUpdate(doc));
        expect(readState(copy)).toEqual(states.at(-1));
      }),
      { numRuns: 500 },
    );
  });

  test("[P62] an unchanged state changes nothing and makes no update", () => {
    fc.assert(
      fc.property(anyState, (state) => {
        expect(diffState(state, structuredClone(state))).toEqual([]);
        const doc = documentOf(state);
        expect(write(doc, structuredClone(state))).toBeUndefined();
      }),
    );
  });

  test("[P62] one leaf changed in a big state is one change, and one element of an array one splice", () => {
    const big = (leaf: JsonValue, element: JsonValue): JsonObject => ({
      sections: Object.fromEntries(
        Array.from({ length: 200 }, (_, at) => [
          `s${at}`,
          { title: `t${at}`, tags: ["x", "y"], deep: { n: at } },
        ]),
      ),
      leaf: { deep: { in: leaf } },
      list: Array.from({ length: 500 }, (_, at) => (at === 250 ? element : { at })),
    });
    expect(diffState(big(1, 1), big(2, 1))).toEqual([{ at: "/leaf/deep/in", set: 2 }]);
    expect(diffState(big(1, 1), big(1, 2))).toEqual([{ at: "/list", index: 250, removed: 1, inserted: [2] }]);
    const doc = documentOf(big(1, 1));
    expect(write(doc, big(2, 1))?.byteLength).toBeLessThan(60);
  });

  test("[P62] a leaf becomes an object, an array, a scalar and nothing, each with the fewest changes", () => {
    const forms: JsonObject[] = [{ a: 1 }, { a: { b: 1, c: {} } }, { a: [1] }, { a: {} }, { a: null }, {}];
    for (const before of forms) {
      for (const after of forms) {
        const doc = documentOf(before);
        write(doc, after);
        expect(readState(doc)).toEqual(after);
      }
    }
    expect(diffState({ a: { b: 1, c: 2 } }, { a: { b: 1 } })).toEqual([{ at: "/a/c", remove: true }]);
    expect(diffState({ a: {} }, { a: { b: 1 } })).toEqual([
      { at: "/a", remove: true },
      { at: "/a/b", set: 1 },
    ]);
    expect(diffState({ a: 1 }, { a: [] })).toEqual([{ at: "/a", set: [] }]);
  });

  test("[H6] a splice of an array that is gone keeps what it inserts", () => {
    const doc = documentOf({ other: 1 });
    applyChanges(doc, [{ at: "/list", index: 7, removed: 3, inserted: ["kept"] }]);
    expect(readState(doc)).toEqual({ other: 1, list: ["kept"] });
  });

  test("[H11] a leaf set a thousand times leaves a document of about the same size", () => {
    const doc = documentOf({ a: 0, other: "x" });
    for (let n = 1; n <= 1_000; n += 1) applyChanges(doc, [{ at: "/a", set: n }]);
    expect(Y.encodeStateAsUpdate(doc).byteLength).toBeLessThan(200);
  });
});

function sorted(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
