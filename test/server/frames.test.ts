import { describe, expect, test } from "vitest";
import { MAX_JSON_DEPTH } from "../../src/model/json.ts";
import { seededRandom } from "../../src/testing/random.ts";
import { cutIntoParts } from "../../src/wire/codec.ts";
import { append, edit, message, pull, remove, replace } from "./ops.ts";
import { testRelay } from "./raw-client.ts";

/** A relay that holds something, a client of it, and a check that nothing of it has changed. */
async function stocked(limits = {}) {
  const relay = await testRelay({ limits });
  const client = await relay.client();
  const { incarnation, head } = await client.expect(
    "ack",
    append("s", ["a"], { metadata: [{ at: "/t", value: 1 }] }),
  );
  const look = async () => {
    const place = { actor: "ann", session: "s", incarnation };
    const pulled = await relay.storage.pull(place, {
      have: null,
      stateCursor: 0,
      maxMessages: 100,
      maxBytes: 1e9,
    });
    const catalog = await relay.storage.catalog("ann", { cursor: 0, maxEntries: 100, maxBytes: 1e9 });
    return JSON.stringify([pulled, catalog]);
  };
  const before = await look();
  const unchanged = async () => expect(await look()).toBe(before);
  return { relay, client, incarnation, head, unchanged };
}

const opKinds = {
  append: append("s", ["b"], { base: { generation: 0, count: 1, lastId: "a" } }),
  replace: replace("s", ["b"], { base: { generation: 0, count: 1, lastId: "a" } }),
  edit: edit("s", "edit-1", { archived: true }),
  delete: remove("s", "delete-1"),
};
const badOps: Record<string, Record<string, unknown>> = {
  "incarnation of a number": { incarnation: 5 },
  "no incarnation": { incarnation: undefined },
};
const badBased: Record<string, Record<string, unknown>> = {
  "no base": { base: undefined },
  "a negative count": { base: { generation: 0, count: -1, lastId: null } },
  "half a message": { base: { generation: 0, count: 0.5, lastId: null } },
  "a base without an id": { base: { generation: 0, count: 1 } },
  "messages that are no list": { messages: {} },
  "a message of nothing": { messages: [null] },
  "a message without an id": { messages: [{ ...message("x"), id: undefined }] },
  "a message with a blank id": { messages: [message(" ")] },
  "a message with an id of 129 characters": { messages: [message("x".repeat(129))] },
  "a message id with NUL": { messages: [message("a\0b")] },
  "a message id with half a surrogate pair": { messages: [message("a\ud800")] },
  "a system message": { messages: [{ ...message("x"), role: "system" }] },
  "a message of no known role": { messages: [{ ...message("x"), role: "robot" }] },
  "content that is text": { messages: [{ ...message("x"), content: "text" }] },
  "a block without a type": { messages: [{ ...message("x"), content: [{}] }] },
  "a message without a time": { messages: [{ ...message("x"), createdAt: undefined }] },
  "state that is no base64": { state: "not base64!" },
  "metadata that is no list": { metadata: { title: "t" } },
  "a metadata change of nothing": { metadata: [null] },
  "a metadata change without a place": { metadata: [{ value: 1 }] },
  "a metadata place that is no pointer": { metadata: [{ at: "title", value: 1 }] },
  "a metadata place too deep": { metadata: [{ at: "/a".repeat(MAX_JSON_DEPTH + 1), value: 1 }] },
  "reasoning (H7)": { messages: [{ ...message("x"), content: [{ type: "reasoning", text: "hm" }] }] },
  "reasoning in a tool result (H7)": {
    messages: [
      {
        ...message("x"),
        content: [
          {
            type: "tool_result",
            toolUseId: "t",
            status: "success",
            content: [
              { type: "tool_result", toolUseId: "u", status: "success", content: [{ type: "reasoning" }] },
            ],
          },
        ],
      },
    ],
  },
  "a transient message (H7)": { messages: [{ ...message("x"), metadata: { transient: true } }] },
};

describe("[P8] a bad op is refused by name, and the connection goes on", () => {
  const cases = Object.entries(opKinds).flatMap(([kind, op]) => [
    ...Object.entries(badOps).map(([what, bad]) => [kind, what, { ...op, ...bad }] as const),
    ...(kind === "append" || kind === "replace"
      ? Object.entries(badBased).map(([what, bad]) => [kind, what, { ...op, ...bad }] as const)
      : []),
  ]);
  const more = [
    ["replace", "no keep", { ...opKinds.replace, keep: undefined }],
    ["replace", "keep of what never was", { ...opKinds.replace, keep: { generation: 3, count: 0 } }],
    ["replace", "keep of more than there is", { ...opKinds.replace, keep: { generation: 0, count: 2 } }],
    ["edit", "archived as text", { ...opKinds.edit, archived: "yes" }],
    ["edit", "read of a negative count", { ...opKinds.edit, read: { generation: 0, count: -1 } }],
  ] as const;
  test.each([...cases, ...more])("[P8] %s with %s", async (_, __, frame) => {
    const { client, unchanged } = await stocked();
    const [answer, ...others] = await client.ask(frame as never);
    expect(answer).toMatchObject({ type: "refusal", opId: frame.opId, session: "s", code: "malformed" });
    expect(others).toEqual([]);
    await unchanged();
    await client.expect("pong", { type: "ping", id: 1 });
  });
});

describe("[P8] a bad request is not answered by name, and the connection goes on", () => {
  const requests = {
    pull: pull("s", null, { id: "q" }),
    "read-generation": {
      type: "read-generation",
      id: "q",
      session: "s",
      incarnation: "i",
      generation: 0,
      from: 0,
    },
    "list-generations": { type: "list-generations", id: "q", session: "s", incarnation: "i" },
    catalog: { type: "catalog", id: "q", cursor: 0 },
  };
  const bad: [string, string, object][] = [
    ["pull", "a head that is none", { ...requests.pull, have: {} }],
    ["pull", "a negative cursor", { ...requests.pull, stateCursor: -1 }],
    ["pull", "a session that is blank", { ...requests.pull, session: " " }],
    ["read-generation", "a generation of text", { ...requests["read-generation"], generation: "0" }],
    ["read-generation", "no beginning", { ...requests["read-generation"], from: undefined }],
    ["list-generations", "no incarnation", { ...requests["list-generations"], incarnation: null }],
    ["catalog", "a cursor of half a change", { ...requests.catalog, cursor: 0.5 }],
    ["catalog", "no cursor", { ...requests.catalog, cursor: undefined }],
    ["unheard-of", "an unknown type", { type: "unheard-of", id: "q" }],
  ];
  test.each(bad)("[P8] %s with %s", async (_, __, frame) => {
    const { client, unchanged } = await stocked();
    const answers = await client.ask(frame as never);
    expect(answers).toMatchObject([{ type: "not-answered", id: "q", code: "malformed" }]);
    await unchanged();
    await client.expect("pong", { type: "ping", id: 1 });
  });
});

describe("[P8] what names neither ends the connection as malformed", () => {
  test.each<[string, string | Uint8Array]>([
    ["no JSON", "{"],
    ["no object", "5"],
    ["null", "null"],
    ["no type", "{}"],
    ["an unknown type", '{"type":"unheard-of"}'],
    ["a second hello", '{"type":"hello","protocol":1,"actorId":"ann","device":"d"}'],
    ["a ping without an id", '{"type":"ping"}'],
    ["an op that names itself badly", JSON.stringify({ ...append("s", ["x"]), opId: " " })],
    ["an op that names its session badly", JSON.stringify({ ...append("\0", ["x"]) })],
    ["a channel that is no number", '{"type":"open-channel","channel":"1","session":"s","incarnation":"i"}'],
    ["a channel closed without a number", '{"type":"close-channel"}'],
    ["reauthenticate without a token", '{"type":"reauthenticate"}'],
    ["an empty binary frame", new Uint8Array()],
    ["a binary frame of a number alone", Uint8Array.of(1)],
    ["a binary frame that does not end its number", Uint8Array.of(0xff, 0xff)],
    ["a frame of the relay's", '{"type":"pong","id":1}'],
  ])("[P8] %s", async (_, frame) => {
    const { relay, client, unchanged } = await stocked();
    client.sayRaw(frame);
    await relay.settle();
    expect(client.frames.at(-1)).toMatchObject({ type: "fault", code: "malformed" });
    expect(client.closed).toEqual({ code: 4400, reason: "malformed" });
    await unchanged();
    expect(relay.core.size).toEqual({ connections: 0, channels: 0 });
  });
});

test("[P8] unknown fields are ignored, those of a message are kept", async () => {
  const { client } = await stocked();
  const op = { ...opKinds.append, colour: "red", messages: [{ ...message("b"), extra: { __proto__x: 1 } }] };
  await client.expect("ack", op);
  const page = await client.expect(
    "page",
    pull("s", null, { have: { generation: 0, count: 1, lastId: "a" } }),
  );
  expect(page.messages.map((one) => one.message)).toEqual([{ ...message("b"), extra: { __proto__x: 1 } }]);
});

test("[P1] a binary frame for a channel that is not open is let go", async () => {
  const { client, relay } = await stocked();
  client.sayRaw(Uint8Array.of(7, 0, 0, 1, 0));
  await relay.settle();
  await client.expect("pong", { type: "ping", id: 1 });
});

describe("limits of size", () => {
  const base = { generation: 0, count: 1, lastId: "a" };

  test("[P10] a message over its limit is refused with the limit named, by its UTF-8 bytes", async () => {
    const { client, unchanged } = await stocked({ maxMessageBytes: 1_000 });
    const fits = message("b", "é".repeat(400));
    const bytes = new TextEncoder().encode(JSON.stringify(fits)).length;
    expect(bytes).toBeLessThanOrEqual(1_000);
    const over = message("b", "é".repeat(500));
    const refusal = await client.expect("refusal", {
      ...append("s", [], { base, opId: "1" }),
      messages: [over],
    });
    expect(refusal).toMatchObject({ code: "too-large", limit: { name: "maxMessageBytes", max: 1_000 } });
    await unchanged();
    await client.expect("ack", { ...append("s", [], { base, opId: "2" }), messages: [fits] });
  });

  test("[C49] a frame over its limit ends the connection once, with the limit named", async () => {
    const { relay, client, unchanged } = await stocked({ maxFrameBytes: 2_000 });
    client.say({ ...append("s", [], { base }), messages: [message("b", "x".repeat(2_000))] });
    await relay.settle();
    expect(client.frames.at(-1)).toMatchObject({
      type: "fault",
      code: "too-large",
      limit: { name: "maxFrameBytes", max: 2_000 },
    });
    expect(client.closed).toEqual({ code: 4413, reason: "too-large" });
    await unchanged();
  });

  test("[C49] a binary frame over its limit likewise", async () => {
    const { relay, client } = await stocked({ maxFrameBytes: 2_000 });
    client.sayRaw(new Uint8Array(2_001));
    await relay.settle();
    expect(client.frames.at(-1)).toMatchObject({ code: "too-large", limit: { name: "maxFrameBytes" } });
  });

  test("[P11] an op in parts is one op", async () => {
    const { client } = await stocked({ maxFrameBytes: 2_000 });
    const op = append("s", [], { base, opId: "big" });
    const messages = Array.from({ length: 20 }, (_, n) => message(`m${n}`, `💥${"\ud83d\ude00".repeat(50)}`));
    const parts = cutIntoParts("p", JSON.stringify({ ...op, messages }), 2_000);
    expect(parts.length).toBeGreaterThan(5);
    for (const part of parts.slice(0, -1)) expect(await client.ask(part)).toEqual([]);
    const ack = await client.expect("ack", parts.at(-1) as never);
    expect(ack).toMatchObject({ opId: "big", added: 20, head: { count: 21 } });
    const page = await client.expect("page", pull("s", null, { have: base }));
    expect(page.messages[0]?.message).toEqual(messages[0]);
  });

  test("[P11] an interrupted series is forgotten, and what follows of it is malformed", async () => {
    const { client, unchanged } = await stocked({ maxFrameBytes: 2_000 });
    const parts = cutIntoParts("p", JSON.stringify({ ...opKinds.append, pad: "x".repeat(3_000) }), 2_000);
    await client.ask(parts[0] as never);
    await client.expect("pong", { type: "ping", id: 1 });
    await client.ask(parts[1] as never);
    expect(client.closed?.code).toBe(4400);
    await unchanged();
  });

  test.each([
    ["out of order", [0, 2]],
    ["without a beginning", [1]],
    ["past its end", [9]],
  ])("[P11] parts %s are malformed", async (_, indexes) => {
    const { client, unchanged } = await stocked();
    for (const index of indexes) await client.ask({ type: "part", id: "p", index, of: 3, text: "x" });
    expect(client.closed?.code).toBe(4400);
    await unchanged();
  });

  test("[P11] a new series takes the place of one that was interrupted", async () => {
    const { client } = await stocked({ maxFrameBytes: 2_000 });
    const parts = cutIntoParts("p", JSON.stringify({ ...opKinds.append, pad: "x".repeat(3_000) }), 2_000);
    await client.ask(parts[0] as never);
    const again = parts.map((part) => ({ ...part, id: "q" }));
    for (const part of again.slice(0, -1)) await client.ask(part);
    await client.expect("ack", again.at(-1) as never);
  });

  test("[P10] an op over its limit is refused by name when it came in parts, and the connection goes on", async () => {
    const { client, unchanged } = await stocked({ maxFrameBytes: 2_000, maxOpBytes: 5_000 });
    const op = { ...append("s", [], { base, opId: "big" }), messages: [message("b", "x".repeat(9_000))] };
    const answers = [];
    for (const part of cutIntoParts("p", JSON.stringify(op), 2_000))
      answers.push(...(await client.ask(part)));
    expect(answers).toMatchObject([
      {
        type: "refusal",
        opId: "big",
        session: "s",
        code: "too-large",
        limit: { name: "maxOpBytes", max: 5_000 },
      },
    ]);
    await unchanged();
    await client.expect("ack", opKinds.append);
  });

  test("[P10] an op nested deeper than JSON may be is refused by a named limit, however deep", async () => {
    const { client, unchanged } = await stocked();
    for (const depth of [MAX_JSON_DEPTH + 1, 10_000, 100_000]) {
      const deep = `{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`;
      const text = JSON.stringify({ ...append("s", ["b"], { base, opId: `deep-${depth}` }) });
      client.sayRaw(text.replace('"metadata":{}', `"metadata":${deep}`));
      await client.expect("pong", { type: "ping", id: depth });
      expect(client.of("refusal").at(-1)).toMatchObject({
        opId: `deep-${depth}`,
        code: "too-large",
        limit: { name: "maxDepth", max: 500 },
      });
    }
    await unchanged();
  });

  test("[P23] state that does not decode is refused, and nothing of its op is left", async () => {
    const { client, unchanged } = await stocked();
    for (const state of ["AQID", Buffer.from(new Uint8Array(500).fill(255)).toString("base64")]) {
      const refusal = await client.expect("refusal", { ...opKinds.append, opId: state.slice(0, 9), state });
      expect(refusal.code).toBe("invalid-state");
    }
    await unchanged();
  });
});

test("[C46] random frames leave the process alive, other clients unharmed and nothing stored", async () => {
  const { relay, unchanged } = await stocked();
  const other = await relay.client();
  const random = seededRandom(46);
  let client = await relay.client();
  for (let round = 0; round < 20_000; round += 1) {
    if (client.closed !== undefined) {
      client.drop();
      client = await relay.client();
    }
    const bytes = Uint8Array.from({ length: random.below(40) }, () => random.below(256));
    if (random.chance(0.5)) client.sayRaw(bytes);
    else client.sayRaw(Buffer.from(bytes).toString("latin1"));
  }
  await relay.settle();
  await other.expect("pong", { type: "ping", id: 1 });
  expect(other.of("push")).toEqual([]);
  await unchanged();
});
