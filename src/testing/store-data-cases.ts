import type { Content } from "../model/content.ts";
import type { JsonObject } from "../model/json.ts";
import { createMessage, type MessageInput } from "../model/message.ts";
import { claim, claimEqual, claimRefused } from "./claims.ts";
import { claimMessages, START, StoredSession, type StoreRule, said } from "./store-under-test.ts";

const bytes = new Uint8Array([0, 1, 127, 128, 255]);

/** One message of every kind there is, each with every field it may have. */
const everything: readonly MessageInput[] = [
  { role: "developer", content: "be brief", metadata: { at: { deep: [1, null, "x"] } } },
  { role: "user", content: [{ type: "text", text: "größer 😀\n\u2028" }, ""] },
  { role: "user", content: [] },
  { role: "user", content: { type: "image", data: bytes, mediaType: "image/png", name: "a.png" } },
  { role: "user", content: { type: "document", data: bytes, mediaType: "text/plain", name: "a.txt" } },
  {
    role: "assistant",
    content: { type: "tool_use", id: "call", name: "find", input: { q: ["x"], n: -1.5e-7 } },
  },
  {
    role: "tool",
    content: { type: "tool_result", toolUseId: "call", content: { a: null }, status: "success" },
  },
  {
    role: "tool",
    content: {
      type: "tool_result",
      toolUseId: "call",
      status: "error",
      content: [{ type: "text", text: "t" }, { type: "unknown", kept: true }, "plain", 7],
    },
  },
];

/** Keys that are nothing special (D3). */
const awkward = JSON.parse(
  '{"__proto__":{"x":1},"constructor":{"prototype":2},"":{"/":{"~":[]}},"toString":null}',
) as JsonObject;

const unstorable: readonly { readonly value: unknown; readonly what: string }[] = [
  { value: Number.NaN, what: "NaN" },
  { value: Number.NEGATIVE_INFINITY, what: "-Infinity" },
  { value: 1n, what: "a bigint" },
  { value: Symbol("s"), what: "a symbol" },
  { value: () => 1, what: "a function" },
  { value: new Date(0), what: "a date" },
  { value: new Map(), what: "a map" },
  { value: [undefined], what: "undefined in an array" },
  { value: new Array(2), what: "a sparse array" },
  { value: Object.defineProperty({}, "x", { get: () => 1, enumerable: true }), what: "a getter" },
  { value: loop(), what: "a cycle" },
];

function loop(): object {
  const cycle: { self?: object } = {};
  cycle.self = cycle;
  return cycle;
}

/** What may be stored, how it comes back, and what is refused (D1–D4, M4, T4, T5). */
export function dataCases(actorId: string | undefined): readonly StoreRule[] {
  const rule = (name: string, run: (session: StoredSession) => Promise<void>): StoreRule => ({
    name,
    run: (store) => run(new StoredSession(store, actorId)),
  });
  return [
    rule("[M4] messages of every kind come back equal", async (session) => {
      const messages = everything.map(createMessage);
      await session.append(START, { messages });
      const loaded = await session.load();
      claimMessages(loaded, messages, "the messages");
      const image = loaded?.messages[3]?.content[0];
      claim(image?.type === "image", "the fourth message must hold an image");
      claimEqual([...image.data], [...bytes], "the image's bytes");
    }),
    rule("[D1] state and metadata of every kind come back equal", async (session) => {
      const state = {
        n: [0, -0, 1e21, 5e-324, 2 ** 53],
        t: ["", "😀", "\0"],
        b: [true, null],
        o: {},
        a: [[], [{}]],
      };
      const metadata = { title: "t", nested: { list: [{ x: 1 }] } };
      await session.append(START, { state, metadata });
      const loaded = await session.load();
      claimEqual(loaded?.state, state, "the state");
      claimEqual(loaded?.metadata, metadata, "the metadata");
      claim(Object.is((loaded?.state?.n as readonly unknown[] | undefined)?.[1], 0), "-0 must become 0");
    }),
    rule("[D1] an undefined property is left out", async (session) => {
      await session.append(START, { state: { a: 1, b: undefined } as unknown as JsonObject });
      claimEqual((await session.load())?.state, { a: 1 }, "the state");
    }),
    rule("[D3] any key is data", async (session) => {
      const message = createMessage({ role: "user", content: "x", metadata: awkward });
      await session.append(START, { messages: [message], state: awkward, metadata: awkward });
      const loaded = await session.load();
      claimMessages(loaded, [message], "the message");
      claimEqual(loaded?.state, awkward, "the state");
      claimEqual(loaded?.metadata, awkward, "the metadata");
      claim(({} as { x?: number }).x === undefined, "no prototype may be touched");
    }),
    rule("[D4] changing what was passed in changes nothing stored", async (session) => {
      const state: JsonObject = { list: [1] };
      const metadata: JsonObject = { list: [1] };
      const data = new Uint8Array([1, 2, 3]);
      const content = [{ type: "image", data, mediaType: "image/png" }] satisfies Content[];
      const messages: MessageInput[] = [{ role: "user", content, metadata }];
      const written = session.append(START, { messages, state, metadata });
      (state.list as number[]).push(2);
      (metadata.list as number[]).push(2);
      data[0] = 99;
      messages.push({ role: "user", content: "late" });
      content.length = 0;
      await written;
      const loaded = await session.load();
      claimEqual(loaded?.state, { list: [1] }, "the state");
      claimEqual(loaded?.metadata, { list: [1] }, "the metadata");
      claim(loaded?.messages.length === 1, "only the message that was there at the call may be stored");
      claimEqual(loaded.messages[0]?.metadata, { list: [1] }, "the message's metadata");
      const block = loaded.messages[0]?.content[0];
      claim(block?.type === "image", "the image must be stored");
      claimEqual([...block.data], [1, 2, 3], "the bytes");
    }),
    rule("[D4] what is handed out is frozen, or the caller's own", async (session) => {
      const written = await session.append(START, {
        messages: [said("a")],
        state: { a: [1] },
        metadata: { m: {} },
      });
      for (const snapshot of [written, await session.load()]) {
        claim(snapshot !== undefined, "there must be a session");
        claim(
          Object.isFrozen(snapshot.messages) && Object.isFrozen(snapshot.messages[0]),
          "messages must be frozen",
        );
        claim(
          Object.isFrozen(snapshot.metadata) && Object.isFrozen(snapshot.metadata.m),
          "metadata must be frozen",
        );
        tryToChange(snapshot.state);
      }
      claimEqual((await session.load())?.state, { a: [1] }, "the state after a reader changed its own");
    }),
    rule("[T4] reasoning is never stored, wherever it stands", async (session) => {
      const reasoning = { type: "reasoning", text: "secret", signature: "s" } as const;
      const messages: MessageInput[] = [
        { role: "assistant", content: [reasoning, "kept"] },
        { role: "assistant", content: [{ type: "reasoning", redacted: bytes }] },
        {
          role: "tool",
          content: { type: "tool_result", toolUseId: "c", status: "success", content: [reasoning, "kept"] },
        },
        { role: "system", content: "secret" },
        { role: "user", content: "secret", metadata: { transient: true } },
      ];
      await session.append(START, { messages });
      const [one, two, ...rest] = (await session.load())?.messages ?? [];
      claim(one !== undefined && two !== undefined && rest.length === 0, "two messages must be left");
      claimEqual(
        one.content.map(({ type }) => type),
        ["text"],
        "the first one's blocks",
      );
      const result = two.content[0];
      claim(result?.type === "tool_result", "the second one must be the result");
      claimEqual(result.content, ["kept"], "what is left in the result");
      await session.replace({ messages: messages.slice(1, 2) });
      claimMessages(await session.load(), [], "a log of nothing but reasoning");
    }),
    rule("[T5] data that cannot be stored is refused and changes nothing", async (session) => {
      const { revision } = await session.append(START, { messages: [said("kept")], state: { kept: 1 } });
      await session.unchangedBy(async () => {
        for (const { value, what } of unstorable) {
          const bad = { deep: [{ at: value }] } as unknown as JsonObject;
          const inMessage = { role: "user", content: "x", metadata: bad } as MessageInput;
          for (const said of [{ state: bad }, { metadata: bad }, { messages: [inMessage] }]) {
            const where = `${what} in ${Object.keys(said).join()}`;
            await claimRefused(
              () => session.append(revision, said),
              "invalid-input",
              `an append of ${where}`,
            );
            await claimRefused(() => session.replace(said), "invalid-input", `a replace by ${where}`);
          }
        }
      });
    }),
    rule("[H10] arguments that are none are refused and change nothing", async (session) => {
      const { revision } = await session.append(START, { messages: [said("kept")] });
      const { store, id, scope } = session;
      const good = { ...scope, messages: [], state: {}, metadata: {}, expectedCount: revision.count };
      const writes: readonly object[] = [
        { ...good, messages: undefined },
        { ...good, messages: "text" },
        { ...good, messages: [null] },
        { ...good, messages: [{ role: "nobody", content: "x" }] },
        { ...good, messages: [{ role: "user", content: "x", id: " " }] },
        { ...good, state: null },
        { ...good, state: [] },
        { ...good, metadata: "text" },
        { ...good, actorId: "" },
        { ...good, expectedCount: -1 },
        { ...good, expectedCount: "1" },
        { ...good, expectedCount: 0.5 },
        { ...good, expectedGeneration: Number.NaN },
      ];
      await session.unchangedBy(async () => {
        for (const write of writes) {
          const call = (): Promise<unknown> => store.append(id, write as typeof good);
          await claimRefused(call, "invalid-input", `an append of ${JSON.stringify(write)}`);
        }
        const call = (): Promise<unknown> =>
          store.replace(id, { ...good, expected: { generation: 0 } as typeof revision });
        await claimRefused(call, "invalid-input", "a replace that expects half a revision");
      });
      for (const bad of ["", " ", "x".repeat(129), 7, undefined]) {
        await claimRefused(() => store.load(bad as string, scope), "invalid-input", `the id ${String(bad)}`);
      }
    }),
  ];
}

/** Changes a state that was handed out, where its owner may: a frozen one is as good. */
function tryToChange(state: JsonObject): void {
  if (!Object.isFrozen(state.a)) (state.a as number[]).push(2);
  if (!Object.isFrozen(state)) state.b = 1;
}
