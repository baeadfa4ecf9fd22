import { describe, expect, test } from "vitest";
import { MAX_JSON_DEPTH } from "../../src/model/json.ts";
import { seededRandom } from "../../src/testing/random.ts";
import { append, message, pull } from "./ops.ts";
import { opKinds, stocked } from "./stocked-relay.ts";

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
