import { describe, expect, expectTypeOf, test, vi } from "vitest";
import { Invocation } from "../../src/model/invocation.ts";
import { type Message, textOf } from "../../src/model/message.ts";
import { invocationErrorOf } from "./refusal.ts";

const start = (fields: object = {}) => new Invocation({ message: "hi", ...fields });
const text = (value: unknown) => textOf(value as Message);

class Service {
  calls = 0;
}

describe("the payload", () => {
  test("[I1] what is no object is refused", () => {
    for (const payload of [null, "hi", 5, true, [], ["hi"], () => 1, Symbol("s"), 1n]) {
      expect(invocationErrorOf(() => new Invocation(payload as object))).toBe(
        "Invocation payload must be an object",
      );
    }
  });

  test("[I1] no argument is an empty payload, which fails for its message", () => {
    expect(invocationErrorOf(() => new Invocation())).toBe("Invocation message is required");
    expect(invocationErrorOf(() => new Invocation({}))).toBe("Invocation message is required");
    expect(invocationErrorOf(() => new Invocation(undefined))).toBe("Invocation message is required");
  });

  test("[I1] a payload whose getters throw is refused as a payload", () => {
    const payload = Object.defineProperty({}, "message", {
      enumerable: true,
      get: () => {
        throw new RangeError("no");
      },
    });
    expect(invocationErrorOf(() => new Invocation(payload))).toBe("Invocation payload could not be read");
  });

  test("[I2] unknown fields are kept, and are reached by key and as properties", () => {
    const invocation = new Invocation<{ tenant: string; flags?: string[] }>({
      message: "hi",
      tenant: "acme",
    });
    expectTypeOf(invocation.tenant).toEqualTypeOf<string>();
    expect(invocation.tenant).toBe("acme");
    expect(invocation.get("tenant")).toBe("acme");
    invocation.flags = ["a"];
    expect(invocation.get("flags")).toEqual(["a"]);
    invocation.set("tenant", "other");
    expect(invocation.tenant).toBe("other");
    expect(invocation.get("missing")).toBeUndefined();
    expect((invocation as unknown as { missing?: unknown }).missing).toBeUndefined();
  });

  test("[I2] fields are listed, spread, tested and deleted like properties; known ones cannot be deleted", () => {
    const invocation = new Invocation<{ extra?: number }>({ message: "hi", extra: 1 });
    expect(Object.keys(invocation)).toContain("extra");
    expect({ ...invocation }).toMatchObject({ extra: 1, history: [] });
    expect("extra" in invocation && "runId" in invocation && "run_id" in invocation).toBe(true);
    expect("other" in invocation).toBe(false);
    delete invocation.extra;
    expect(invocation.has("extra")).toBe(false);
    expect(Reflect.deleteProperty(invocation, "message")).toBe(false);
    expect(Reflect.defineProperty(invocation, "extra", { get: () => 1 })).toBe(false);
    expect(Reflect.defineProperty(invocation, "extra", { value: 2 })).toBe(true);
    expect(invocation.extra).toBe(2);
    expect(() => Object.freeze(invocation)).toThrow(TypeError);
    expect(Reflect.getOwnPropertyDescriptor(invocation, "other")).toBeUndefined();
    expect(text(invocation.message)).toBe("hi");
  });

  test("[I2] fields named like methods or like what every object has are reached by key, and break nothing", () => {
    const payload = JSON.parse(
      '{"message":"hi","get":1,"toJSON":2,"constructor":3,"__proto__":{"polluted":true},"then":4}',
    );
    const invocation = new Invocation(payload);
    expect(invocation.get("get")).toBe(1);
    expect(invocation.get("toJSON")).toBe(2);
    expect(invocation.get("constructor")).toBe(3);
    expect(invocation.get("__proto__")).toEqual({ polluted: true });
    expect((invocation as unknown as { polluted?: unknown }).polluted).toBeUndefined();
    expect(JSON.parse(JSON.stringify(invocation))).toMatchObject({ get: 1, toJSON: 2 });
    expect(invocation.toObject().get).toBe(1);
    expect(invocation instanceof (Invocation as unknown as new () => object)).toBe(true);
  });

  test("[I2] a field named then does not make it a promise", async () => {
    const wait = vi.fn();
    const invocation = start().set("then", wait);
    expect(await Promise.race([invocation, "other"])).toBe(invocation);
    expect(invocation.get("then")).toBe(wait);
    expect(wait).not.toHaveBeenCalled();
  });

  test("[I2] a class of one's own can extend it", () => {
    class Run extends Invocation<{ tenant: string }> {
      attempts = 2;
      label(): string {
        return `${this.tenant} ${this.attempts}`;
      }
    }
    const run = new Run({ message: "hi", tenant: "acme" });
    expect(run.label()).toBe("acme 2");
    expect(run.get("attempts")).toBe(2);
  });

  test("[I3] text, numbers and registered symbols of the same text are one key", () => {
    const invocation = new Invocation({ message: "hi", [Symbol.for("a")]: 1, 7: "seven" });
    expect([invocation.get("a"), invocation.get(Symbol.for("a"))]).toEqual([1, 1]);
    expect([invocation.get(7), invocation.get("7"), invocation.get(Symbol.for("7"))]).toEqual([
      "seven",
      "seven",
      "seven",
    ]);
    expect((invocation as unknown as { [key: symbol]: unknown })[Symbol.for("a")]).toBe(1);
    invocation.set(7, "new");
    expect(invocation.fetch("7")).toBe("new");
  });

  test("[I3] known fields are reachable in snake_case too, every way", () => {
    const invocation = new Invocation({
      message: "hi",
      actor_id: "ann",
      deadline_at: "2024-01-01T00:00:00Z",
      run_id: "r",
      invocation_id: "i",
      session_id: "s",
    });
    expect(invocation).toMatchObject({ actorId: "ann", runId: "r", invocationId: "i", sessionId: "s" });
    expect(invocation.deadlineAt).toEqual(new Date("2024-01-01T00:00:00Z"));
    expect(invocation.get("actorId")).toBe("ann");
    expect(invocation.get(Symbol.for("actor_id"))).toBe("ann");
    (invocation as unknown as { actor_id: string }).actor_id = "bob";
    expect(invocation.actorId).toBe("bob");
    expect(invocation.dig("actor_id")).toBe("bob");
    expect(invocation.toObject()).not.toHaveProperty("actor_id");
    expect(start({ my_field: 1 }).has("myField")).toBe(false);
  });

  test("[I3] of the same field given twice the last one wins", () => {
    expect(start({ runId: "a", run_id: "b" }).runId).toBe("b");
    expect(start({ run_id: "b", runId: "a" }).runId).toBe("a");
    expect(start({ x: 1, [Symbol.for("x")]: 2 }).get("x")).toBe(2);
    expect(start({ run_id: "b", runId: undefined }).runId).toBe("b");
  });

  test("[I3] a key that cannot be text is refused everywhere, and does not stop the language's own symbols", () => {
    const key = Symbol("private");
    const invocation = start();
    for (const act of [
      () => start({ [key]: 1 }),
      () => invocation.get(key),
      () => invocation.set(key, 1),
      () => invocation.has(key),
      () => invocation.fetch(key),
      () => invocation.dig(key),
      () => invocation.dig("context", key),
      () => Reflect.set(invocation, key, 1),
    ]) {
      expect(invocationErrorOf(act)).toBe("Invocation key must be text: Symbol(private)");
    }
    expect(String(invocation)).toBe("[object Object]");
    expect(Symbol.iterator in invocation).toBe(false);
  });

  test("[I4] objects, arrays, dates and bytes are copied deeply; what the payload becomes later does not flow in", () => {
    const payload = {
      message: "hi",
      context: {
        list: [{ n: 1 }],
        when: new Date(5),
        bytes: Uint8Array.of(1),
        view: new Float32Array([1.5]),
        buffer: new ArrayBuffer(1),
      },
      data: new DataView(Uint8Array.of(0, 9).buffer, 1),
    };
    const invocation = new Invocation<typeof payload>(payload);
    payload.context.list[0] = { n: 2 };
    payload.context.when.setTime(9);
    payload.context.bytes[0] = 2;
    payload.context.view[0] = 2;
    new Uint8Array(payload.context.buffer)[0] = 2;
    payload.data.setUint8(0, 1);
    expect(invocation.get("context")).toEqual({
      list: [{ n: 1 }],
      when: new Date(5),
      bytes: Uint8Array.of(1),
      view: new Float32Array([1.5]),
      buffer: new ArrayBuffer(1),
    });
    expect((invocation.get("data") as DataView).getUint8(0)).toBe(9);
    expect(Object.isFrozen(payload.context)).toBe(false);
  });

  test("[I4] functions and instances of classes are kept as they are, wherever they stand", () => {
    const service = new Service();
    const act = () => 1;
    const map = new Map([[1, {}]]);
    const invocation = start({ context: { deep: [service, act, map] } });
    const deep = invocation.dig("context", "deep") as unknown[];
    expect(deep[0]).toBe(service);
    expect(deep[1]).toBe(act);
    expect(deep[2]).toBe(map);
  });

  test("[I4] what contains itself, is shared, or is a hundred thousand levels deep is copied", () => {
    const shared = { n: 1 };
    const loop: { [key: string]: unknown } = { a: shared, b: shared };
    loop.self = loop;
    const copy = start({ context: loop }).get("context") as typeof loop;
    expect(copy.self).toBe(copy);
    expect(copy).not.toBe(loop);
    expect(copy.a).toBe(copy.b);
    expect(copy.a).not.toBe(shared);
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level += 1) deep = { deep };
    expect(start({ context: { deep } }).dig("context", "deep", "deep")).toBeTypeOf("object");
  });

  test("[I4] set keeps what it is given as it is", () => {
    const invocation = start();
    const value = { list: [1] };
    expect(invocation.set("context", value)).toBe(invocation);
    value.list.push(2);
    expect(invocation.get("context")).toBe(value);
  });
});
