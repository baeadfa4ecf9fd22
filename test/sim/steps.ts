import { StorageError } from "../../src/model/errors.ts";
import type { JsonObject } from "../../src/model/json.ts";
import { createMessage, type Message } from "../../src/model/message.ts";
import { type Device, SESSION, SIDE, type Writer } from "./device.ts";
import type { Ledger } from "./ledger.ts";
import type { RelayDisk } from "./relay-disk.ts";
import { SECRET } from "./wire-history.ts";
import type { World } from "./world.ts";

/** What a step works on. */
export interface Stage {
  readonly world: World;
  readonly device: Device;
  readonly ledger: Ledger;
  readonly relayDisk: RelayDisk;
}
export type Step = (stage: Stage) => unknown;

/** Every step by its name, and how often it is drawn. */
export const STEPS: ReadonlyMap<string, { readonly weight: number; readonly work: Step }> = new Map(
  Object.entries({
    append: step(10, (stage) => append(stage, stage.device, "rebase")),
    "append-reject": step(3, (stage) => append(stage, stage.device, "reject")),
    "append-with-state": step(3, appendWithState),
    checkpoint: step(4, (stage) => checkpoint(stage, false)),
    "checkpoint-diverged": step(2, (stage) => checkpoint(stage, true)),
    "edit-earlier": step(2, editEarlier),
    replace: step(2, replace),
    restore: step(1, restore),
    state: step(4, state),
    rename: step(2, ({ world, device }) =>
      quietly(device.client.sessions.rename(SESSION, `t${world.random.below(1_000)}`)),
    ),
    "mark-read": step(1, ({ world, device }) =>
      quietly(device.client.sessions.markRead(SESSION, world.random.below(10))),
    ),
    "retry-rejected": step(1, retryRejected),
    "discard-rejected": step(1, discardRejected),
    "side-append": step(3, sideAppend),
    "side-delete": step(1, ({ device }) => device.client.sessions.delete(SIDE)),
    "second-open": step(1, ({ device }) => device.openSecond()),
    "second-append": step(4, async (stage) => {
      const second = await stage.device.openSecond();
      await second.life.during(append(stage, second, "rebase"));
    }),
    "second-kill": step(1, ({ device }) => device.killSecond()),
    freeze: step(1, ({ device }) => device.tab.freeze()),
    thaw: step(2, ({ device }) => device.tab.thaw()),
    reload: step(2, ({ device }) => device.reload()),
    "die-soon": step(2, ({ world, device }) => device.life.dieAt(1 + world.random.below(120))),
    "second-dies-soon": step(1, ({ world, device }) =>
      device.second?.life.dieAt(1 + world.random.below(120)),
    ),
    "disk-fails": step(2, ({ world, device }) => device.trouble.begin(1 + world.random.below(12))),
    "disk-heals": step(2, ({ device }) => device.trouble.end()),
    cut: step(3, ({ world, device }) => device.cable.cut({ silently: world.random.chance(0.3) })),
    heal: step(4, ({ device }) => device.cable.heal()),
    drop: step(2, ({ device }) => device.cable.drop()),
    swallow: step(1, ({ device }) => device.cable.swallow()),
    slow: step(2, ({ world, device }) =>
      Object.assign(device.cable, { delayMs: [0, world.random.below(400)] }),
    ),
    duplicate: step(2, ({ device }) => Object.assign(device.cable, { duplicateOps: 0.3 })),
    "relay-restart": step(1, ({ world }) => world.restartRelay()),
    "relay-kill": step(1, ({ world }) => world.killRelay()),
    "relay-dies-before-commit": step(1, ({ world, relayDisk }) =>
      relayDisk.crashAt("before-commit", 1 + world.random.below(3)),
    ),
    "relay-dies-after-commit": step(2, ({ world, relayDisk }) =>
      relayDisk.crashAt("after-commit", 1 + world.random.below(3)),
    ),
    "relay-disk-fails": step(1, ({ world, relayDisk }) => relayDisk.fail(1 + world.random.below(8))),
    "clock-jump": step(1, ({ world }) => world.clock.jump((world.random.below(3) - 1) * 86_400_000)),
    time: step(12, ({ world }) => world.clock.advance(world.random.below(3_000))),
  }),
);

function step(weight: number, work: Step): { readonly weight: number; readonly work: Step } {
  return { weight, work };
}

async function sideAppend({ world, device: { name, side } }: Stage): Promise<void> {
  const state = { ...(await side.state()), [name]: world.random.below(100) };
  await side.append({ messages: [world.message({ name })], state });
}

async function append(
  { world, ledger }: Stage,
  device: Writer,
  onConflict: "rebase" | "reject",
): Promise<void> {
  const messages = Array.from({ length: 1 + world.random.below(3) }, () => world.message(device));
  const secret = createMessage({ role: "system", content: SECRET, id: `${messages[0]?.id}s` });
  const given = world.random.chance(0.1) ? [secret, ...messages] : messages;
  const work = (until: "local" | "confirmed") =>
    device.session.append({ messages: given }, { onConflict, until });
  await ledger.write(world, device, messages, { kind: "append", work }, onConflict === "rebase");
}

async function appendWithState({ world, device, ledger }: Stage): Promise<void> {
  const messages = [world.message(device)];
  const value = world.random.below(1_000_000);
  const before = await device.session.state();
  const own = asObject(before[device.name]);
  const after = { ...before, [device.name]: { ...own, said: value } };
  const leaf = `${device.name}/said`;
  const told = ledger.leaves.get(leaf);
  ledger.leaves.set(leaf, undefined);
  const failed = await ledger.write(
    world,
    device,
    messages,
    { kind: "append", work: (until) => device.session.append({ messages, state: after }, { until }) },
    true,
  );
  if (failed !== "unknown") ledger.leaves.set(leaf, failed === "failed" ? told : value);
}

async function checkpoint({ world, device, ledger }: Stage, diverged: boolean): Promise<void> {
  const history = await device.session.history();
  const kept = diverged ? history.slice(0, world.random.below(history.length + 1)) : history;
  const messages = Array.from({ length: world.random.below(3) }, () => world.message(device));
  await writeLog({ world, device, ledger }, kept, messages, (log) =>
    device.session.checkpoint({ messages: log }),
  );
}

/** The same messages, one of them with other words: another generation that ends alike. */
async function editEarlier({ world, device, ledger }: Stage): Promise<void> {
  const history = await device.session.history();
  const at = world.random.below(history.length);
  const kept = history.map((message, index) =>
    index === at ? createMessage({ ...message, content: `edited ${world.random.below(1_000)}` }) : message,
  );
  await writeLog({ world, device, ledger }, kept, [], (log) => device.session.checkpoint({ messages: log }));
}

async function replace({ world, device, ledger }: Stage): Promise<void> {
  const history = await device.session.history();
  const snapshot = await device.session.load();
  const messages = [world.message(device)];
  const expected = world.random.chance(0.5) ? snapshot?.revision : undefined;
  const kept = history.slice(0, world.random.below(history.length + 1));
  await writeLog({ world, device, ledger }, kept, messages, (log) =>
    device.session.replace({ messages: log, expected }),
  );
}

async function writeLog(
  { world, device, ledger }: Omit<Stage, "relayDisk">,
  kept: readonly Message[],
  messages: readonly Message[],
  work: (log: readonly Message[]) => Promise<unknown>,
): Promise<void> {
  for (const { id } of kept) ledger.contained.add(id);
  await ledger.write(world, device, messages, { kind: "log", work: () => work([...kept, ...messages]) });
}

async function restore({ world, device }: Stage): Promise<void> {
  await quietly(
    (async () => {
      const archived = (await device.session.generations()).filter(({ current }) => !current);
      const one = archived[world.random.below(archived.length)];
      if (one !== undefined) await device.session.restore(one.generation);
    })(),
  );
}

async function retryRejected({ world, device, ledger }: Stage): Promise<void> {
  const ops = await device.client.rejected.list();
  const op = ops[world.random.below(ops.length)];
  for (const { id } of op?.messages ?? []) {
    ledger.contained.add(id);
    ledger.retried.add(id);
  }
  if (op !== undefined) await device.client.rejected.retry(op.opId);
}

async function discardRejected({ world, device, ledger }: Stage): Promise<void> {
  const ops = await device.client.rejected.list();
  const op = ops[world.random.below(ops.length)];
  for (const { id } of op?.messages ?? []) ledger.discarded.add(id);
  if (op !== undefined) await device.client.rejected.discard(op.opId);
}

async function state({ world, device, ledger }: Stage): Promise<void> {
  const value = world.random.below(1_000_000);
  const leaf = `${device.name}/n`;
  const told = ledger.leaves.get(leaf);
  const { unsaid } = device.trouble;
  // Open until it is told: the tab may die in it.
  ledger.leaves.set(leaf, undefined);
  try {
    await device.session.updateState((draft) => {
      const own = asObject(draft[device.name]);
      draft[device.name] = { ...own, n: value };
      const shared = Array.isArray(draft.shared) ? draft.shared : [];
      draft.shared = [...shared, `${device.name}${value}`];
    });
    ledger.leaves.set(leaf, value);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    if (device.trouble.unsaid === unsaid) ledger.leaves.set(leaf, told);
  }
}

async function quietly(work: Promise<unknown>): Promise<void> {
  // A session that does not exist yet cannot be renamed, an archived generation may not be held here.
  await work.catch(() => undefined);
}

function asObject(value: JsonObject[string] | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
