import { createMessage, type MessageInput } from "holdfast";
import { expect, test } from "vitest";
import { type Entry, threadRows } from "../../demo/app/thread-rows.ts";

let nth = 0;
function entry(input: MessageInput, minute: number, delivery: Entry["delivery"] = "confirmed"): Entry {
  nth += 1;
  const createdAt = new Date(2026, 4, 3, 10, minute).toISOString();
  return { message: createMessage({ id: `m${nth}`, createdAt, ...input }), delivery };
}
const user = (content: string, minute: number): Entry => entry({ role: "user", content }, minute);
const agent = (content: string, minute: number): Entry => entry({ role: "assistant", content }, minute);
const call = (id: string, minute: number): Entry =>
  entry({ role: "assistant", content: [{ type: "tool_use", id, name: "clock", input: {} }] }, minute);
const result = (toolUseId: string, minute: number): Entry =>
  entry(
    { role: "tool", content: [{ type: "tool_result", toolUseId, status: "success", content: "12:00" }] },
    minute,
  );

test("messages of one side within a few minutes are one group; a pause or the other side ends it", () => {
  const rows = threadRows([user("a", 0), user("b", 2), user("c", 20), agent("d", 20)]).filter(
    ({ kind }) => kind === "message",
  );
  expect(rows.map((row) => (row.kind === "message" ? [row.first, row.last] : []))).toEqual([
    [true, false],
    [false, true],
    [true, true],
    [true, true],
  ]);
});

test("each calendar day has one heading, and no group spans two days", () => {
  const rows = threadRows([
    user("late", 13 * 60 + 58),
    user("early", 14 * 60 + 1),
    user("later", 14 * 60 + 2),
  ]);
  expect(rows.map(({ kind }) => kind)).toEqual(["day", "message", "day", "message", "message"]);
  expect(rows[1]).toMatchObject({ last: true });
  expect(rows[3]).toMatchObject({ first: true, last: false });
});

test("a tool's result stands with its call, and a message that only brought it is no row", () => {
  const rows = threadRows([user("time?", 0), call("t", 1), result("t", 1), agent("noon", 1)]);
  expect(rows.map(({ kind }) => kind)).toEqual(["day", "message", "message", "message"]);
  expect(rows[2]).toMatchObject({ text: false, calls: [{ use: { id: "t" }, result: { content: "12:00" } }] });
});

test("a call without a result stays open, and a result without its call still shows", () => {
  const rows = threadRows([call("open", 0), result("elsewhere", 0)]);
  expect(rows[1]).toMatchObject({ calls: [{ result: undefined }] });
  expect(rows[2]).toMatchObject({ calls: [{ use: undefined, result: { toolUseId: "elsewhere" } }] });
});

test("[H10] a rejected message has a row whatever it holds", () => {
  const rows = threadRows([call("t", 0), { ...result("t", 0), delivery: "rejected" }]);
  expect(rows).toHaveLength(3);
});
