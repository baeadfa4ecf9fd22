import { expect, test } from "vitest";
import { append, pull } from "./ops.ts";
import { testRelay } from "./raw-client.ts";

test("[P42] an append is acknowledged to its sender and pushed to the others", async () => {
  const relay = await testRelay();
  const one = await relay.client();
  const two = await relay.client();
  const ack = await one.expect("ack", append("s", ["a", "b"]));
  expect(ack).toMatchObject({
    outcome: "applied",
    head: { generation: 0, count: 2, lastId: "b" },
    added: 2,
    seq: 1,
  });
  expect(two.of("push")).toMatchObject([{ entry: { seq: 1, head: ack.head }, append: { start: 0 } }]);
  const page = await two.expect("page", pull("s", ack.incarnation));
  expect(page.messages.map(({ message }) => message.id)).toEqual(["a", "b"]);
});
