import { readFileSync } from "node:fs";
import { textOf } from "holdfast";
import { beforeEach, expect, test } from "vitest";
import { type ImportProgress, importConversations } from "../../demo/app/import-conversations.ts";
import { asClient, FakeClient } from "./fake-client.ts";

let fake: FakeClient;
let told: ImportProgress[];
beforeEach(() => {
  fake = new FakeClient();
  fake.setLink("offline");
  told = [];
});
const run = (text: string, signal = new AbortController().signal): Promise<ImportProgress> =>
  importConversations({
    client: asClient(fake),
    text,
    signal,
    onProgress: (progress) => told.push(progress),
  });
const line = (id: string, content = "hi"): string =>
  JSON.stringify({ id, messages: [{ role: "user", content }] });

test("all 60 transcripts become sessions, with their tool calls and without system prompts", async () => {
  const text = readFileSync(new URL("../data/agent-transcripts.jsonl", import.meta.url), "utf8");
  const progress = await run(text);
  expect(progress).toMatchObject({ done: 60, total: 60, written: 60, present: 0, failures: [] });
  expect(told.map(({ done }) => done)).toEqual([...Array(61).keys()]);
  const first = fake.conversation("airline-000");
  expect(first.metadata.title).toBe("Hi! I'm looking to book a flight from New York to Seattle…");
  expect(first.metadata.imported).toBe(first.log.length);
  expect(first.entry().unread).toBe(0);
  const blocks = first.log.flatMap(({ message }) => message.content.map(({ type }) => type));
  expect(blocks.filter((type) => type === "tool_use").length).toBe(
    blocks.filter((type) => type === "tool_result").length,
  );
  expect(blocks).toContain("tool_use");
  expect(fake.handles.every(({ closed }) => closed)).toBe(true);
});

test("the same file again changes nothing, also where the conversation has gone on", async () => {
  await run(line("a"));
  fake.arrive("a", [{ role: "assistant", content: "and on" }]);
  expect(await run(`${line("a")}\n${line("b")}\n`)).toMatchObject({ written: 1, present: 1 });
  expect(fake.conversation("a").log.map(({ message }) => textOf(message))).toEqual(["hi", "and on"]);
});

test("[H10] a bad line is told with its number and does not stop the others", async () => {
  const bad = [
    "{",
    "null",
    '{"id":"","messages":[{}]}',
    '{"id":"x","messages":[]}',
    '{"id":"y","messages":[{"role":"wizard"}]}',
  ];
  const progress = await run([line("a"), "", ...bad, line("b")].join("\n"));
  expect(progress).toMatchObject({ done: 7, total: 7, written: 2 });
  expect(progress.failures.map((failure) => failure.line)).toEqual([3, 4, 5, 6, 7]);
  for (const { reason } of progress.failures) expect(reason).not.toBe("");
});

test("it stops when told to, between two conversations", async () => {
  const stop = new AbortController();
  const progress = await importConversations({
    client: asClient(fake),
    text: [line("a"), line("b"), line("c")].join("\n"),
    signal: stop.signal,
    onProgress: ({ done }) => {
      if (done === 1) stop.abort();
    },
  });
  expect(progress).toMatchObject({ done: 1, total: 3, written: 1 });
});
