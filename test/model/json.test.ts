import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InvalidInputError } from "../../src/model/errors.ts";
import {
  cloneJson,
  copyJson,
  copyJsonObject,
  freezeJson,
  type JsonObject,
  type JsonValue,
  jsonEquals,
  MAX_JSON_DEPTH,
} from "../../src/model/json.ts";
import { anyJson, anyObject } from "./arbitraries.ts";
import { invalidInputOf } from "./refusal.ts";

class Point {
  x = 1;
}
class List extends Array<number> {}

function nested(levels: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = wrap(value);
  return value;
}

/** Containers of a value, all of them. */
function containers(value: unknown, found: object[] = []): object[] {
  if (typeof value !== "object" || value === null) return found;
  found.push(value);
  for (const inner of Object.values(value)) containers(inner, found);
  return found;
}

const refusal = (value: unknown) => invalidInputOf(() => copyJson(value, "state"));

const cycle: { [key: string]: unknown } = { name: "loop" };
cycle.self = { again: [cycle] };
const getter = Object.defineProperty({}, "at", {
  enumerable: true,
  get: () => {
    throw new Error("a getter ran");
  },
});
const setter = Object.defineProperty({}, "at", { enumerable: true, set: () => undefined });
const getterInArray = Object.defineProperty([1, 2], 1, { enumerable: true, get: () => 7 });
// biome-ignore lint/suspicious/noSparseArray: the sparse array is what is tested
const sparse = [1, , 3];
const throwing = new Proxy(
  {},
  {
    ownKeys: () => {
      throw new TypeError("no");
    },
  },
);

const refused: readonly [what: string, value: unknown, path: string][] = [
  ["NaN", { plan: { items: [0, 1, 2, { at: Number.NaN }] } }, "state.plan.items[3].at"],
  ["Infinity", { a: Number.POSITIVE_INFINITY }, "state.a"],
  ["-Infinity", [Number.NEGATIVE_INFINITY], "state[0]"],
  ["a bigint", { n: 1n }, "state.n"],
  ["a symbol", { s: Symbol("s") }, "state.s"],
  ["a function", { f: () => 1 }, "state.f"],
  ["a date", { plan: { items: [0, 1, 2, { at: new Date(0) }] } }, "state.plan.items[3].at"],
  ["an instance of a class", { p: new Point() }, "state.p"],
  ["a map", { m: new Map() }, "state.m"],
  ["bytes", { b: new Uint8Array(2) }, "state.b"],
  ["a regular expression", { r: /x/ }, "state.r"],
  ["a boxed string", { s: Object("boxed") }, "state.s"],
  ["a promise", { p: Promise.resolve(1) }, "state.p"],
  ["an error", { e: new Error("e") }, "state.e"],
  ["an object with a made-up prototype", { o: Object.create({ inherited: 1 }) }, "state.o"],
  ["a subclass of Array", { l: List.of(1, 2) }, "state.l"],
  ["a sparse array", { l: sparse }, "state.l[1]"],
  ["an array of a huge length", { l: new Array(4_000_000_000) }, "state.l[0]"],
  ["an array element that is undefined", { l: [1, undefined] }, "state.l[1]"],
  ["an array with a named property", { l: Object.assign([1], { extra: 2 }) }, "state.l.extra"],
  ["a getter", { g: getter }, "state.g.at"],
  ["a setter", { g: setter }, "state.g.at"],
  ["a getter in an array", { g: getterInArray }, "state.g[1]"],
  ["a symbol as a key", { o: { [Symbol("key")]: 1 } }, "state.o[Symbol(key)]"],
  ["a cycle", cycle, "state.self.again[0]"],
  ["a proxy that throws", { p: throwing }, "state.p"],
  ["undefined itself", undefined, "state"],
  ["a key that is no name", { "not a name": { "": { "a.b": 1n } } }, 'state["not a name"][""]["a.b"]'],
];

describe("what JSON is", () => {
  test.each(refused)("[D1] %s is refused, and the error names where it stands", (_what, value, path) => {
    const error = refusal(value);
    expect(error.code).toBe("invalid-input");
    expect(error.path).toBe(path);
    expect(error.message).toContain(path);
  });

  test("[D1] where a plain object is asked for, nothing else will do", () => {
    for (const value of [null, undefined, [], "x", 1, true, new Date(0), new Point(), () => 1]) {
      expect(() => copyJsonObject(value, "metadata")).toThrow(InvalidInputError);
      expect(() => copyJsonObject(value, "metadata")).toThrow(/metadata/);
    }
  });

  test("[D1] all JSON is accepted, and the copy is equal to it", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const copy = copyJson(value, "state");
        expect(JSON.stringify(copy)).toBe(JSON.stringify(value));
        expect(jsonEquals(copy, value)).toBe(true);
        expect(cloneJson(copy)).toEqual(copy);
      }),
      { numRuns: 500 },
    );
  });

  test("[D1] undefined properties are left out, -0 becomes 0, and what is not enumerable is not data", () => {
    const given = Object.defineProperty({ a: undefined, b: -0, c: [-0] }, "hidden", {
      value: 1n,
      enumerable: false,
    });
    const copy = copyJsonObject(given, "state");
    expect(Object.keys(copy)).toEqual(["b", "c"]);
    expect(Object.is(copy.b, 0)).toBe(true);
    expect(copy.c).toEqual([0]);
    expect(Object.is((copy.c as number[])[0], 0)).toBe(true);
  });

  test("[D1] objects without a prototype, and those of another realm, are plain", () => {
    const bare = Object.assign(Object.create(null), { a: 1 });
    const foreign = Object.assign(
      Object.create(Object.create(null, { isPrototypeOf: { value: () => false } })),
      { b: 2 },
    );
    expect(copyJson({ bare, foreign }, "state")).toEqual({ bare: { a: 1 }, foreign: { b: 2 } });
    expect(Object.getPrototypeOf(copyJson(bare, "state"))).toBe(Object.prototype);
  });

  test("[D1] a mistake anywhere inside is refused with the path that leads to it", () => {
    const steps = fc.array(fc.oneof(fc.nat(3), fc.stringMatching(/^[a-z]{1,5}$/)), { maxLength: 8 });
    fc.assert(
      fc.property(steps, (way) => {
        let value: unknown = Number.NaN;
        let path = "";
        for (const step of [...way].reverse()) {
          value = typeof step === "number" ? [...Array(step).fill(0), value] : { first: 1, [step]: value };
          path = typeof step === "number" ? `[${step}]${path}` : `.${step}${path}`;
        }
        expect(refusal(value).path).toBe(`state${path}`);
      }),
    );
  });
});

describe("the limits of JSON", () => {
  test("[D2] the same object in two places is two copies", () => {
    const shared = { list: [1] };
    const copy = copyJsonObject({ a: shared, b: shared, c: [shared, shared] }, "state");
    expect(copy).toEqual({ a: { list: [1] }, b: { list: [1] }, c: [{ list: [1] }, { list: [1] }] });
    expect(copy.a).not.toBe(copy.b);
  });

  test("[D2] ten thousand levels, and a million, are refused by a limit that has a name", () => {
    for (const levels of [MAX_JSON_DEPTH + 1, 10_000, 1_000_000]) {
      for (const wrap of [(v: unknown) => [v], (v: unknown) => ({ a: v })]) {
        expect(refusal(nested(levels, wrap)).message).toContain(`deeper than ${MAX_JSON_DEPTH} levels`);
      }
    }
  });

  test("[D2] as deep as the limit allows works everywhere: copies, equality, text, structured clones", () => {
    const deep = copyJson(
      nested(MAX_JSON_DEPTH, (v) => ({ a: v })),
      "state",
    );
    expect(jsonEquals(deep, cloneJson(deep))).toBe(true);
    expect(jsonEquals(JSON.parse(JSON.stringify(deep)), deep)).toBe(true);
    expect(jsonEquals(structuredClone(deep), freezeJson(deep))).toBe(true);
  });

  test("[D2] equality and freezing stand any depth", () => {
    const build = () => nested(100_000, (v) => [v]) as JsonValue;
    expect(jsonEquals(build(), build())).toBe(true);
    expect(Object.isFrozen(freezeJson(build()))).toBe(true);
  });

  test("[D2] shared objects that would multiply without end are refused", () => {
    const bomb = nested(40, (v) => [v, v, v, v]);
    expect(refusal(bomb).message).toContain("must not hold more than");
  });

  test("[D2] halves of surrogate pairs are kept exactly, in keys and in values", () => {
    const copy = copyJsonObject({ "\ud83d": "\ude00 \ud800", pair: "\ud83d\ude00" }, "state");
    expect(Object.keys(copy)).toEqual(["\ud83d", "pair"]);
    expect(copy["\ud83d"]).toBe("\ude00 \ud800");
    expect(JSON.parse(JSON.stringify(copy))).toEqual(copy);
  });

  test("[D3] __proto__, constructor and prototype are keys like others", () => {
    const given: unknown = JSON.parse(
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"prototype":2}',
    );
    for (const copy of [copyJsonObject(given, "state"), cloneJson(copyJsonObject(given, "state"))]) {
      expect(Object.keys(copy)).toEqual(["__proto__", "constructor", "prototype"]);
      expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
      expect(JSON.stringify(copy)).toBe(JSON.stringify(given));
      expect(jsonEquals(copy, given as JsonObject)).toBe(true);
      expect(jsonEquals(copy, {})).toBe(false);
    }
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect(jsonEquals({}, JSON.parse('{"__proto__":{}}'))).toBe(false);
    expect(jsonEquals({ a: 1 }, JSON.parse('{"toString":1}'))).toBe(false);
  });
});

describe("copies and equality", () => {
  test("[D4] a copy shares nothing with what was given, and nothing given is frozen", () => {
    fc.assert(
      fc.property(anyObject, (given) => {
        const before = JSON.stringify(given);
        const copy = copyJsonObject(given, "state");
        const theirs = new Set(containers(given));
        expect(containers(copy).filter((container) => theirs.has(container))).toEqual([]);
        freezeJson(copy);
        expect(containers(copy).every(Object.isFrozen)).toBe(true);
        expect([...theirs].some(Object.isFrozen)).toBe(false);
        expect(JSON.stringify(given)).toBe(before);
      }),
    );
  });

  test("[D4] frozen input gives a copy that can be changed", () => {
    const copy = copyJsonObject(freezeJson({ a: { b: [1] } }), "state");
    (copy.a as JsonObject).b = 2;
    expect(copy).toEqual({ a: { b: 2 } });
  });

  test("[M7] equality does not see the order of keys, and sees everything else", () => {
    const shuffled = (value: JsonValue): JsonValue => {
      if (typeof value !== "object" || value === null) return value;
      if (Array.isArray(value)) return value.map(shuffled);
      const result: JsonObject = {};
      for (const key of Object.keys(value).reverse()) {
        Object.defineProperty(result, key, {
          value: shuffled(value[key] ?? null),
          enumerable: true,
          configurable: true,
          writable: true,
        });
      }
      return result;
    };
    fc.assert(
      fc.property(anyJson, anyJson, (a, b) => {
        expect(jsonEquals(a, shuffled(a))).toBe(true);
        expect(jsonEquals(a, b)).toBe(canonical(a) === canonical(b));
      }),
      { numRuns: 500 },
    );
    expect(jsonEquals([1], { 0: 1 })).toBe(false);
    expect(jsonEquals([], {})).toBe(false);
    expect(jsonEquals(undefined, null)).toBe(false);
    expect(jsonEquals({ a: null }, {})).toBe(false);
  });
});

/** The same text for the same data, whatever the order of keys. */
function canonical(value: JsonValue): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  return `{${Object.entries(value)
    .map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`)
    .sort()
    .join()}}`;
}
