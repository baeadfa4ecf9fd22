import { expect } from "vitest";
import type { Client } from "../../src/client.ts";
import { readState } from "../../src/store/state-document.ts";
import { SYNC_SCHEMA } from "../../src/store/sync-rows.ts";
import { ACTOR, type Device, SESSION, SIDE } from "./device.ts";
import type { Watched } from "./invariants.ts";
import { rows } from "./ledger.ts";
import { violations } from "./linearizable.ts";
import { SECRET } from "./wire-history.ts";
import { textsOf } from "./world.ts";

/** What must hold once all trouble is over: everybody has the same, and it is what the relay promised. */
export async function checkEnd({ world, ledger, witness, wire }: Watched): Promise<void> {
  // Before anything is read, which would have them catch up.
  const documents = world.devices.map(({ session }) => readState(session.doc));
  const views = await Promise.all(world.devices.map(viewOf));
  const [first] = views;
  for (const document of documents) expect(document, "an open document").toEqual(first?.state);
  for (const view of views) expect(view).toEqual(first);
  for (const device of world.devices) await checkTabs(device, first?.ids ?? []);
  const sides = await Promise.all(world.devices.map(({ client }) => sideOf(client)));
  for (const side of sides) expect(side).toEqual(sides[0]);
  const log = witness.logOf(ACTOR, SESSION);
  const stored = (await world.generations()).map(({ messages }) => messages.map(({ id }) => id));
  expect(stored, "the storage's generations").toEqual(log);
  const current = log.at(-1) ?? [];
  expect(first?.ids).toEqual(current);
  const { ever } = witness;
  const rejected = new Set<string>();
  for (const { client } of world.devices) {
    for (const op of await client.rejected.list()) for (const { id } of op.messages) rejected.add(id);
  }
  const whole = new Set([...ledger.contained, ...ledger.discarded]);
  expect(violations(ledger.calls, log, whole), "as the application saw it").toEqual([]);
  expect(violations(wire.calls, log, whole), "as the cables saw it").toEqual([]);
  for (const id of rejected) expect(ever.has(id), `rejected ${id}`).toBe(false);
  for (const name of world.devices.flatMap((device) => [device.name, `${device.name}2`])) {
    const own = ledger.committed
      .filter(({ id, device, floating }) => device === name && floating && !ledger.retried.has(id))
      .map(({ id }) => id);
    const standing = current.filter((id) => own.includes(id));
    expect(standing).toEqual(own.filter((id) => standing.includes(id)));
  }
  for (const [leaf, value] of ledger.leaves) {
    if (value === undefined) continue;
    const [device = "", key = ""] = leaf.split("/");
    const part = first?.state[device] as Record<string, unknown> | undefined;
    expect(part?.[key], `leaf ${leaf}`).toBe(value);
  }
  for (const device of world.devices) {
    device.killSecond();
    device.cable.cut();
    await device.reload();
  }
  for (const device of world.devices) expect(await viewOf(device), "from its disk alone").toEqual(first);
  for (const { disk } of world.devices) {
    for (const table of Object.keys(SYNC_SCHEMA))
      expect(JSON.stringify(rows(disk, table)).includes(SECRET)).toBe(false);
  }
}

async function viewOf({ session }: Device) {
  const snapshot = await session.load();
  return {
    ids: (snapshot?.messages ?? []).map(({ id }) => id),
    texts: textsOf(snapshot?.messages ?? []),
    state: snapshot?.state ?? {},
    metadata: snapshot?.metadata ?? {},
    revision: snapshot?.revision,
  };
}

/** Every tab of a device shows the log and says the same of it, and one of them leads. */
async function checkTabs({ name, client, session, second }: Device, ids: readonly string[]): Promise<void> {
  const shown = session.messages.entries.filter(({ delivery }) => delivery !== "rejected");
  expect(
    shown.map(({ message }) => message.id),
    `shown by ${name}`,
  ).toEqual(ids.slice(-shown.length || ids.length));
  if (second === undefined) return;
  expect(((await second.session.load())?.messages ?? []).map(({ id }) => id)).toEqual(ids);
  const { pending, rejected, link, lastSyncedAt, storage } = second.client.status;
  expect(client.status).toMatchObject({ pending, rejected, link, lastSyncedAt, storage });
  expect([client.status.leader, second.client.status.leader].filter(Boolean)).toHaveLength(1);
}

/** The session that is also deleted now and then, as one device has it. */
async function sideOf(client: Client): Promise<unknown> {
  const session = client.session(SIDE);
  const snapshot = await session.load();
  await session.close();
  return snapshot === undefined
    ? "none"
    : { texts: textsOf(snapshot.messages), state: snapshot.state, revision: snapshot.revision };
}
