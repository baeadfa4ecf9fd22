import { ConflictError, RejectedError } from "../../src/model/errors.ts";
import type { JsonObject } from "../../src/model/json.ts";
import type { Message } from "../../src/model/message.ts";
import { type Device, SESSION, SIDE, type Writer } from "./device.ts";
import type { World } from "./world.ts";

/** What the simulation knows must be true in the end. */
export interface Ledger {
  /** Messages whose local commit was told, in the order of each device. */
  readonly committed: { readonly id: string; readonly device: string; readonly floating: boolean }[];
  /** Messages whose op was told to be acknowledged. */
  readonly acknowledged: Set<string>;
  /** Messages whose op was told to be refused. */
  readonly refused: Set<string>;
  /** Messages that a checkpoint or a replace gave as part of a whole log: it may bring in what was refused alone. */
  readonly contained: Set<string>;
  /** Leaves of the state that one device alone wrote, with the last value it committed. */
  readonly leaves: Map<string, number>;
}

export function newLedger(): Ledger {
  return {
    committed: [],
    acknowledged: new Set(),
    refused: new Set(),
    contained: new Set(),
    leaves: new Map(),
  };
}

export type Step = (world: World, device: Device, ledger: Ledger) => unknown;

/** Every step by its name, and how often it is drawn. */
export const STEPS: ReadonlyMap<string, { readonly weight: number; readonly work: Step }> = new Map(
  Object.entries({
    append: step(10, (world, device, ledger) => append(world, device, ledger, "rebase")),
    "append-reject": step(3, (world, device, ledger) => append(world, device, ledger, "reject")),
    "append-with-state": step(3, appendWithState),
    checkpoint: step(4, (world, device, ledger) => checkpoint(world, device, ledger, false)),
    "checkpoint-diverged": step(2, (world, device, ledger) => checkpoint(world, device, ledger, true)),
    replace: step(2, replace),
    restore: step(1, restore),
    state: step(4, state),
    rename: step(2, ({ random }, { client }) =>
      quietly(client.sessions.rename(SESSION, `t${random.below(1_000)}`)),
    ),
    "mark-read": step(1, ({ random }, { client }) =>
      quietly(client.sessions.markRead(SESSION, random.below(10))),
    ),
    "side-append": step(3, sideAppend),
    "side-delete": step(1, (_world, { client }) => client.sessions.delete(SIDE)),
    "second-open": step(1, (_world, device) => device.openSecond()),
    "second-append": step(4, async (world, device, ledger) =>
      append(world, await device.openSecond(), ledger, "rebase"),
    ),
    "second-kill": step(1, (_world, device) => device.killSecond()),
    freeze: step(1, (_world, { tab }) => tab.freeze()),
    thaw: step(2, (_world, { tab }) => tab.thaw()),
    reload: step(2, (_world, device) => device.reload()),
    cut: step(3, ({ random }, { cable }) => cable.cut({ silently: random.chance(0.3) })),
    heal: step(4, (_world, { cable }) => cable.heal()),
    drop: step(2, (_world, { cable }) => cable.drop()),
    swallow: step(1, (_world, { cable }) => cable.swallow()),
    slow: step(2, ({ random }, { cable }) => Object.assign(cable, { delayMs: [0, random.below(400)] })),
    duplicate: step(2, (_world, { cable }) => Object.assign(cable, { duplicateOps: 0.3 })),
    "relay-restart": step(1, (world) => world.restartRelay()),
    "clock-jump": step(1, ({ clock, random }) => clock.jump((random.below(3) - 1) * 86_400_000)),
    time: step(12, ({ clock, random }) => clock.advance(random.below(3_000))),
  }),
);

function step(weight: number, work: Step): { readonly weight: number; readonly work: Step } {
  return { weight, work };
}

async function sideAppend(world: World, { name, side }: Device): Promise<void> {
  const state = { ...(await side.state()), [name]: world.random.below(100) };
  await side.append({ messages: [world.message({ name })], state });
}

function append(
  world: World,
  device: Writer,
  ledger: Ledger,
  onConflict: "rebase" | "reject",
): Promise<void> {
  const messages = Array.from({ length: 1 + world.random.below(3) }, () => world.message(device));
  return write(ledger, device, messages, onConflict === "rebase", (until) =>
    device.session.append({ messages }, { onConflict, until }),
  );
}

function appendWithState(world: World, device: Device, ledger: Ledger): Promise<void> {
  const messages = [world.message(device)];
  const value = world.random.below(1_000_000);
  return (async () => {
    const before = await device.session.state();
    const own = asObject(before[device.name]);
    const after = { ...before, [device.name]: { ...own, said: value } };
    await write(ledger, device, messages, true, (until) =>
      device.session.append({ messages, state: after }, { until }),
    );
    ledger.leaves.set(`${device.name}/said`, value);
  })();
}

async function checkpoint(world: World, device: Device, ledger: Ledger, diverged: boolean): Promise<void> {
  const history = await device.session.history();
  const kept = diverged ? history.slice(0, world.random.below(history.length + 1)) : history;
  const messages = Array.from({ length: world.random.below(3) }, () => world.message(device));
  for (const { id } of kept) ledger.contained.add(id);
  await write(
    ledger,
    device,
    messages,
    false,
    () => device.session.checkpoint({ messages: [...kept, ...messages] }),
    true,
  );
}

async function replace(world: World, device: Device, ledger: Ledger): Promise<void> {
  const history = await device.session.history();
  const snapshot = await device.session.load();
  const messages = [world.message(device)];
  const expected = world.random.chance(0.5) ? snapshot?.revision : undefined;
  const kept = history.slice(0, world.random.below(history.length + 1));
  for (const { id } of kept) ledger.contained.add(id);
  await write(
    ledger,
    device,
    messages,
    false,
    () => device.session.replace({ messages: [...kept, ...messages], expected }),
    true,
  );
}

async function restore({ random }: World, device: Device): Promise<void> {
  const generations = await device.session.generations();
  const archived = generations.filter(({ current }) => !current);
  const one = archived[random.below(archived.length)];
  if (one !== undefined) await quietly(device.session.restore(one.generation));
}

async function state(world: World, device: Device, ledger: Ledger): Promise<void> {
  const value = world.random.below(1_000_000);
  await device.session.updateState((draft) => {
    const own = asObject(draft[device.name]);
    draft[device.name] = { ...own, n: value };
    const shared = Array.isArray(draft.shared) ? draft.shared : [];
    draft.shared = [...shared, `${device.name}${value}`];
  });
  ledger.leaves.set(`${device.name}/n`, value);
}

async function write(
  ledger: Ledger,
  device: Writer,
  messages: readonly Message[],
  floating: boolean,
  work: (until: "local" | "confirmed") => Promise<unknown>,
  localOnly = false,
): Promise<void> {
  const ids = messages.map(({ id }) => id);
  const waits = !localOnly && device.name !== "a";
  // The local commit is seen in the view before anything is awaited from the relay.
  const done = work(waits ? "confirmed" : "local");
  if (!waits) {
    await done;
    for (const id of ids) ledger.committed.push({ id, device: device.name, floating });
    return;
  }
  done.then(
    () => {
      for (const id of ids) ledger.acknowledged.add(id);
    },
    (error: unknown) => {
      if (!(error instanceof ConflictError) && !(error instanceof RejectedError)) return;
      for (const id of ids) ledger.refused.add(id);
    },
  );
  const seen = async (): Promise<boolean> => {
    const entries = (await device.session.load())?.messages ?? [];
    return ids.every((id) => entries.some((message) => message.id === id));
  };
  for (let tries = 0; tries < 20 && !(await seen()); tries++) await Promise.resolve();
  if (await seen()) for (const id of ids) ledger.committed.push({ id, device: device.name, floating });
}

async function quietly(work: Promise<unknown>): Promise<void> {
  // A session that does not exist yet cannot be renamed, an archived generation may not be held here.
  await work.catch(() => undefined);
}

function asObject(value: JsonObject[string] | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
