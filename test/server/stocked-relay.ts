import { expect } from "vitest";
import { append, edit, remove, replace } from "./ops.ts";
import { testRelay } from "./raw-client.ts";

/** A relay that holds something, a client of it, and a check that nothing of it has changed. */
export async function stocked(limits = {}) {
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

/** A good op of each kind on what the relay holds. */
export const opKinds = {
  append: append("s", ["b"], { base: { generation: 0, count: 1, lastId: "a" } }),
  replace: replace("s", ["b"], { base: { generation: 0, count: 1, lastId: "a" } }),
  edit: edit("s", "edit-1", { archived: true }),
  delete: remove("s", "delete-1"),
};
