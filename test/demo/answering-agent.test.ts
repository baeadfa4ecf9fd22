import { createMessage, type MessageInput, textOf } from "holdfast";
import { afterEach, beforeEach, expect, test } from "vitest";
import { answerId } from "../../demo/agent/answer-id.ts";
import { AnsweringAgent } from "../../demo/agent/answering-agent.ts";
import type { Asked, Responder } from "../../demo/agent/responder.ts";
import { memoryStorage } from "../../server/storage/memory.ts";
import { type Device, SESSION } from "../sim/device.ts";
import { World } from "../sim/world.ts";

let world: World;
let reports: unknown[];
let pauseMs = 0;
const reply = async ({ message }: Asked): Promise<MessageInput[]> => [
  { role: "assistant", content: `re: ${textOf(message)}` },
];

beforeEach(async () => {
  world = await World.begin(7, memoryStorage(), 3);
  reports = [];
  pauseMs = 0;
  await world.clock.advance(2_000);
});
afterEach(async () => {
  await world.during(world.close());
});

function device(n: number): Device {
  const found = world.devices[n];
  if (found === undefined) throw new Error("no such device");
  return found;
}
function agentOn(n: number, respond: Responder = reply): AnsweringAgent {
  return new AnsweringAgent({
    client: device(n).client,
    respond,
    now: () => new Date(world.clock.now()),
    timeZone: "UTC",
    pause: () => new Promise((resolve) => world.clock.after(pauseMs, resolve)),
    report: (event, error) => reports.push([event, error]),
  });
}
async function texts(n = 0): Promise<string[]> {
  return (await device(n).session.history()).map((message) => textOf(message));
}
const ask = (text: string) =>
  world.during(device(0).session.append({ messages: [world.message(device(0), text)] }));

test("[S16] a question is answered once, in one write, with ids that follow from the question", async () => {
  agentOn(1, async () => [
    { role: "assistant", content: [{ type: "tool_use", id: "t", name: "clock", input: {} }] },
    { role: "tool", content: [{ type: "tool_result", toolUseId: "t", status: "success", content: "12:00" }] },
    { role: "assistant", content: "noon" },
  ]);
  await ask("time?");
  await world.settle();
  const history = await device(0).session.history();
  expect(history.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
  const question = history[0]?.id ?? "";
  expect(history.slice(1).map(({ id }) => id)).toEqual([0, 1, 2].map((n) => answerId(question, n)));
  expect(reports).toEqual([]);
});

test("[I5] the invocation carries the question, what was said before, the session and the actor", async () => {
  const asked: Asked[] = [];
  agentOn(1, (one) => {
    asked.push(one);
    return reply(one);
  });
  await ask("one");
  await world.settle();
  await ask("two");
  await world.settle();
  const last = asked.at(-1);
  expect(last?.history.map((message) => textOf(message))).toEqual(["one", "re: one"]);
  expect([textOf(last?.message ?? createMessage({ role: "user" })), last?.sessionId, last?.actorId]).toEqual([
    "two",
    SESSION,
    "ada",
  ]);
});

test("[H4] two agents on one conversation answer a question once", async () => {
  agentOn(1);
  agentOn(2);
  for (const text of ["one", "two", "three"]) {
    await ask(text);
    await world.settle();
  }
  expect(await texts()).toEqual(["one", "re: one", "two", "re: two", "three", "re: three"]);
  for (const n of [1, 2]) expect(device(n).client.status.rejected).toBe(0);
});

test("[C55] what is written while the agent thinks makes the answer late: only the newer question is answered", async () => {
  let think: () => void = () => {};
  let asked = 0;
  agentOn(1, async (one) => {
    asked += 1;
    if (asked === 1) await new Promise<void>((resolve) => (think = resolve));
    return reply(one);
  });
  await ask("one");
  await world.clock.advance(2_000);
  expect(asked).toBe(1);
  await ask("two");
  await world.clock.advance(2_000);
  think();
  await world.settle();
  expect(await texts()).toEqual(["one", "two", "re: two"]);
  expect(device(1).client.status).toMatchObject({ pending: 0, rejected: 0 });
  expect(reports).toEqual([]);
});

test("[H4] an agent that dies after answering and starts again answers nothing twice", async () => {
  agentOn(1);
  await ask("one");
  await world.settle();
  await world.during(device(1).reload());
  agentOn(1);
  await world.settle();
  expect(await texts()).toEqual(["one", "re: one"]);
});

test("questions written offline are answered when they arrive", async () => {
  agentOn(1);
  device(0).cable.cut();
  await ask("one");
  await ask("two");
  await world.clock.advance(60_000);
  expect(await texts(1)).toEqual([]);
  await world.settle();
  const said = await texts();
  expect(said.slice(0, 2)).toEqual(["one", "two"]);
  expect(said.at(-1)).toBe("re: two");
});

test("nobody answers what was imported, but what is asked after it", async () => {
  agentOn(1);
  await world.during(
    device(0).session.append({ messages: [world.message(device(0), "old")], metadata: { imported: 1 } }),
  );
  await world.settle();
  expect(await texts()).toEqual(["old"]);
  await ask("new");
  await world.settle();
  expect(await texts()).toEqual(["old", "new", "re: new"]);
});

test("an answer that can never be stored is reported once and not tried for ever", async () => {
  let asked = 0;
  agentOn(1, async () => {
    asked += 1;
    throw new Error("no answer");
  });
  await ask("one");
  await world.settle();
  expect(asked).toBe(1);
  expect(reports).toHaveLength(1);
  await ask("two");
  await world.settle();
  expect(asked).toBe(2);
});

test("[C26] an answer is shown word by word where it was asked, and then stands in the log under the same id", async () => {
  pauseMs = 200;
  agentOn(1, async () => [{ role: "assistant", content: "one two three" }]);
  const { session } = device(0);
  const seen: string[] = [];
  session.streams.subscribe(() => seen.push(session.streams.entries.map(({ text }) => text).join("|")));
  await ask("count");
  await world.settle();
  const [question, answer] = await session.history();
  expect(seen).toEqual(expect.arrayContaining(["one", "one two", "one two three"]));
  expect([seen.at(-1), answer && textOf(answer), answer?.id]).toEqual([
    "",
    "one two three",
    answerId(question?.id ?? "", 0),
  ]);
});

test("[C58] who asked can stop the answer: what was said is kept and marked, and an older stop ends no newer run", async () => {
  pauseMs = 1_000;
  agentOn(1, async () => [{ role: "assistant", content: "one two three four five six seven eight" }]);
  const { session } = device(0);
  session.streams.subscribe(() => {});
  await ask("count");
  while (session.streams.entries.length === 0) await world.clock.advance(100);
  await world.clock.advance(1_500);
  const runId = session.streams.entries[0]?.runId ?? "";
  await world.during(
    session.updateState((draft) => {
      draft.stoppedRun = runId;
    }),
  );
  await world.settle();
  const [question, answer] = await session.history();
  expect(runId).toBe(question?.id);
  expect(answer?.metadata).toMatchObject({ stopped: true, runId });
  expect(answer && textOf(answer)).toMatch(/^one two( three( four)?)?$/);
  await ask("again");
  await world.clock.advance(12_000);
  await world.settle();
  expect((await texts()).at(-1)).toBe("one two three four five six seven eight");
  expect(reports).toEqual([]);
});
