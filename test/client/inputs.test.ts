import { describe, expect, test } from "vitest";
import { HoldfastError, InvalidInputError } from "../../src/model/errors.ts";
import { type ClientOptions, openClient } from "../../src/open-client.ts";
import { DexieStore } from "../../src/store/dexie-store.ts";
import { MemoryStore } from "../../src/store/memory-store.ts";
import { testEnvironment } from "../../src/testing/environment.ts";
import type { Device } from "../sim/device.ts";
import { begin, rowsOf, say } from "./setting.ts";

// What a caller without types may pass.
const as = <T>(value: unknown): T => value as T;

const circle: { self?: unknown } = {};
circle.self = circle;

/** Every public call with what makes no sense, and the path its error names. */
const BAD: Record<string, readonly [path: string | RegExp, call: (device: Device) => unknown]> = {
  "client.session: no id": ["id", ({ client }) => client.session(as(undefined))],
  "client.session: a blank id": ["id", ({ client }) => client.session("  ")],
  "client.session: a long id": ["id", ({ client }) => client.session("x".repeat(129))],
  "client.session: metadata that is none": [
    "metadata",
    ({ client }) => client.session("s", { metadata: as([]) }),
  ],
  "client.session: metadata with a date": [
    "metadata.at",
    ({ client }) => client.session("s", { metadata: { at: as(new Date()) } }),
  ],
  "client.session: options that are none": ["options", ({ client }) => client.session("s", as(null))],
  "client.flush: a limit that is none": [
    "timeoutMs",
    ({ client }) => client.flush({ timeoutMs: Number.NaN }),
  ],
  "client.flush: a negative limit": ["timeoutMs", ({ client }) => client.flush({ timeoutMs: -1 })],
  "client.flush: a limit in words": ["timeoutMs", ({ client }) => client.flush({ timeoutMs: as("1") })],
  "client.flush: a signal that is none": ["signal", ({ client }) => client.flush({ signal: as({}) })],
  "client.flush: null as signal": ["signal", ({ client }) => client.flush({ signal: as(null) })],
  "client.import: no file": ["file", ({ client }) => client.import(as("text"))],
  "client.import: nothing": ["file", ({ client }) => client.import(as(undefined))],
  "sessions.list: no limit": ["limit", ({ client }) => client.sessions.list({ limit: 0 })],
  "sessions.list: a page that is none": ["page", ({ client }) => client.sessions.list(as(null))],
  "client.wipe: options that are none": ["options", ({ client }) => client.wipe(as(null))],
  "client.subscribe: no function": ["listener", ({ client }) => client.subscribe(as(undefined))],
  "sessions.subscribe: no function": ["listener", ({ client }) => client.sessions.subscribe(as(5))],
  "session.subscribe: no function": ["listener", ({ session }) => session.subscribe(as({}))],
  "messages.subscribe: no function": ["listener", ({ session }) => session.messages.subscribe(as(null))],
  "sessions.list: half a limit": ["limit", ({ client }) => client.sessions.list({ limit: 1.5 })],
  "sessions.list: a limit in words": ["limit", ({ client }) => client.sessions.list({ limit: as("1") })],
  "sessions.list: a place that is none": ["before", ({ client }) => client.sessions.list({ before: "x" })],
  "sessions.list: a place of another shape": [
    "before",
    ({ client }) => client.sessions.list({ before: '["a"]' }),
  ],
  "sessions.search: no text": ["text", ({ client }) => client.sessions.search(as(undefined))],
  "sessions.create: a blank id": ["id", ({ client }) => client.sessions.create("")],
  "sessions.create: a number": ["id", ({ client }) => client.sessions.create(as(1))],
  "sessions.rename: no such session": ["id", ({ client }) => client.sessions.rename("none", "T")],
  "sessions.rename: no title": ["title", ({ client }) => client.sessions.rename("talk", as(undefined))],
  "sessions.rename: a title of half a letter": [
    "title",
    ({ client }) => client.sessions.rename("talk", as(7)),
  ],
  "sessions.archive: no such session": ["id", ({ client }) => client.sessions.archive("none")],
  "sessions.archive: neither on nor off": ["on", ({ client }) => client.sessions.archive("talk", as("yes"))],
  "sessions.delete: a blank id": ["id", ({ client }) => client.sessions.delete(" ")],
  "sessions.markRead: no such session": ["id", ({ client }) => client.sessions.markRead("none", 1)],
  "sessions.markRead: half a message": ["count", ({ client }) => client.sessions.markRead("talk", 0.5)],
  "sessions.markRead: less than none": ["count", ({ client }) => client.sessions.markRead("talk", -1)],
  "rejected.retry: no such op": ["opId", ({ client }) => client.rejected.retry("none")],
  "rejected.discard: no such op": ["opId", ({ client }) => client.rejected.discard(as(undefined))],
  "rejected.retry: a circle": ["opId", ({ client }) => client.rejected.retry(as(circle))],
  "rejected.discard: a circle": ["opId", ({ client }) => client.rejected.discard(as(circle))],
  "rejected.retry: a big number": ["opId", ({ client }) => client.rejected.retry(as(1n))],
  "rejected.discard: a big number": ["opId", ({ client }) => client.rejected.discard(as(1n))],
  "store.synchronize: no work": [
    "work",
    ({ session }) => session.store.synchronize("talk", {}, as(undefined)),
  ],
  "store.withOperationContext: no work": [
    "work",
    ({ session }) => session.store.withOperationContext("x", as({})),
  ],
  "new DexieStore: null": ["options", () => new DexieStore(as(null))],
  "new DexieStore: a name that is none": ["name", () => new DexieStore({ name: as(7) })],
  "MemoryStore.synchronize: no work": ["work", () => new MemoryStore().synchronize("s", {}, as("x"))],
  "MemoryStore.withOperationContext: no work": [
    "work",
    () => new MemoryStore().withOperationContext("x", as(null)),
  ],
  "session.append: nothing": ["write", ({ session }) => session.append(as(undefined))],
  "session.append: no messages": ["messages", ({ session }) => session.append(as({}))],
  "session.append: a text": ["messages", ({ session }) => session.append({ messages: as("hello") })],
  "session.append: a bad message": [
    /^messages\[1\]/,
    ({ session }) => session.append({ messages: [say("good"), as({ role: "nobody", content: "x" })] }),
  ],
  "session.append: an id that is there": [
    "messages[0].id",
    async ({ session }) => session.append({ messages: [...(await session.history())] }),
  ],
  "session.append: an id twice": [
    "messages[1].id",
    ({ session }) => {
      const one = say("x");
      return session.append({ messages: [one, one] });
    },
  ],
  "session.append: a state that is none": [
    "state",
    ({ session }) => session.append({ messages: [], state: as([1]) }),
  ],
  "session.append: a state with what is no JSON": [
    "state.deep[1]",
    ({ session }) => session.append({ messages: [], state: { deep: [1, Number.NaN] } }),
  ],
  "session.append: metadata with what is no JSON": [
    "metadata.f",
    ({ session }) => session.append({ messages: [], metadata: { f: as(() => 1) } }),
  ],
  "session.append: an unknown onConflict": [
    "onConflict",
    ({ session }) => session.append({ messages: [] }, { onConflict: as("merge") }),
  ],
  "session.append: an unknown until": [
    "until",
    ({ session }) => session.append({ messages: [] }, { until: as("sent") }),
  ],
  "session.checkpoint: nothing": ["write", ({ session }) => session.checkpoint(as(null))],
  "session.checkpoint: no messages": ["messages", ({ session }) => session.checkpoint(as({}))],
  "session.checkpoint: a bad message": [
    /^messages\[0\]/,
    ({ session }) => session.checkpoint({ messages: [as({ role: "user", content: [{ type: "?" }] })] }),
  ],
  "session.checkpoint: an id twice": [
    "messages[1].id",
    ({ session }) => {
      const one = say("x");
      return session.checkpoint({ messages: [one, one] });
    },
  ],
  "session.checkpointResult: nothing": ["result", ({ session }) => session.checkpointResult(as(undefined))],
  "session.checkpointResult: no state": [
    "state",
    ({ session }) => session.checkpointResult(as({ messages: [] })),
  ],
  "session.replace: no messages": ["messages", ({ session }) => session.replace(as({}))],
  "session.replace: an expectation that is none": [
    /^expected/,
    ({ session }) => session.replace({ messages: [], expected: as({ generation: 0 }) }),
  ],
  "session.history: half a generation": ["generation", ({ session }) => session.history({ generation: 0.5 })],
  "session.history: a generation below all": [
    "generation",
    ({ session }) => session.history({ generation: -1 }),
  ],
  "session.history: a fallback that is none": [
    "fallback",
    ({ session }) => session.history({ fallback: as("x") }),
  ],
  "session.restore: half a generation": ["generation", ({ session }) => session.restore(0.5)],
  "session.restore: no generation": ["generation", ({ session }) => session.restore(as(undefined))],
  "session.restore: a generation that never was": ["generation", ({ session }) => session.restore(99)],
  "session.updateState: no recipe": ["recipe", ({ session }) => session.updateState(as({ n: 1 }))],
  "session.updateState: a recipe that waits": [
    "recipe",
    ({ session }) =>
      session.updateState(
        as(async (draft: Record<string, unknown>) => {
          draft.late = true;
        }),
      ),
  ],
  "session.updateState: what is no JSON": [
    "state.at",
    ({ session }) => session.updateState((draft) => Object.assign(draft, { at: new Date() })),
  ],
  "session.synchronize: no work": ["work", ({ session }) => session.synchronize(as(undefined))],
  "session.messages.loadEarlier: no number": ["n", ({ session }) => session.messages.loadEarlier(Number.NaN)],
  "session.messages.loadEarlier: less than one": ["n", ({ session }) => session.messages.loadEarlier(0)],
};

describe("calls that make no sense", () => {
  for (const [what, [path, call]] of Object.entries(BAD)) {
    test(`[H10, D1, M9] ${what}: an InvalidInputError, and nothing stored has changed`, async () => {
      const { world, a } = await begin(1);
      await world.during(a.session.append({ messages: [say("x")], state: { n: 1 } }));
      await world.during(a.client.flush());
      const before = await rowsOf(a.database);
      const error = await world.during(
        (async () => call(a))().then(
          () => "nothing was thrown",
          (thrown: unknown) => thrown,
        ),
      );
      expect(error).toBeInstanceOf(InvalidInputError);
      expect((error as InvalidInputError).path).toMatch(
        path instanceof RegExp ? path : new RegExp(`^${path.replaceAll(/[[\]]/g, "\\$&")}$`),
      );
      await world.clock.advance(1_000);
      expect(await rowsOf(a.database)).toEqual(before);
      expect(a.client.status).toMatchObject({ pending: 0, rejected: 0, lastError: undefined });
      await world.during(world.close());
    });
  }

  const options: Record<string, readonly [path: string, options: unknown]> = {
    "no options": ["options", undefined],
    "no url": ["url", { actorId: "ada" }],
    "another scheme": ["url", { actorId: "ada", url: "https://relay" }],
    "half a url": ["url", { actorId: "ada", url: "ws://" }],
    "a url with a space": ["url", { actorId: "ada", url: "ws://re lay" }],
    "no actor": ["actorId", { url: "ws://relay" }],
    "a blank actor": ["actorId", { url: "ws://relay", actorId: " " }],
    "a token that is none": ["token", { url: "ws://relay", actorId: "ada", token: 7 }],
    "an empty token": ["token", { url: "ws://relay", actorId: "ada", token: "" }],
    "a name that is none": ["name", { url: "ws://relay", actorId: "ada", name: 7 }],
    "a name of half a letter": ["name", { url: "ws://relay", actorId: "ada", name: "\ud800" }],
    "a url with half a letter": ["url", { url: "ws://relay/\ud800", actorId: "ada" }],
    "another storage": ["storage", { url: "ws://relay", actorId: "ada", storage: "disk" }],
    "a WebSocket that is none": ["WebSocket", { url: "ws://relay", actorId: "ada", WebSocket: {} }],
  };
  for (const [what, [path, given]] of Object.entries(options)) {
    test(`[H10] openClient with ${what} is refused by name`, async () => {
      const opened = openClient(given as ClientOptions, { env: testEnvironment() });
      await expect(opened).rejects.toBeInstanceOf(InvalidInputError);
      await expect(opened).rejects.toMatchObject({ path });
    });
  }

  test("[H10] every call of a closed client or session rejects with the code closed; none throws another way", async () => {
    const { world, a } = await begin(1);
    const { client, session } = a;
    await world.during(session.append({ messages: [say("x")] }));
    await world.during(client.close());
    await world.during(client.close());
    const calls: (() => Promise<unknown>)[] = [
      () => client.flush(),
      () => client.export(),
      () => client.import(new Blob([])),
      () => client.wipe(),
      () => client.sessions.list(),
      () => client.sessions.search("x"),
      () => client.sessions.create(),
      () => client.sessions.rename("talk", "x"),
      () => client.sessions.archive("talk"),
      () => client.sessions.delete("talk"),
      () => client.sessions.markRead("talk", 1),
      () => client.rejected.list(),
      () => client.rejected.retry("x"),
      () => client.rejected.discard("x"),
      () => session.load(),
      () => session.reload(),
      () => session.history(),
      () => session.state(),
      () => session.metadata(),
      () => session.append({ messages: [] }),
      () => session.replace({ messages: [] }),
      () => session.checkpoint({ messages: [] }),
      () => session.updateState(() => {}),
      () => session.generations(),
      () => session.restore(0),
    ];
    for (const call of calls) {
      const thrown = await call().then(
        () => "nothing",
        (error: unknown) => error,
      );
      expect(thrown, String(call)).toBeInstanceOf(HoldfastError);
      const { code, reason } = thrown as { code: string; reason?: string };
      expect(reason ?? code, String(call)).toBe("closed");
    }
    expect(() => client.session("x")).toThrow(HoldfastError);
    expect(() => client.reconnect()).toThrow(HoldfastError);
    await world.during(world.close());
  });
});
