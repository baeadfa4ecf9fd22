// What is checked after every step, and by what:
// H1 what was told as committed is on its disk or in the relay's log; a write told as failed left nothing
// H2 what a device holds as confirmed is a beginning of what the relay has at that generation; what was acknowledged
//    stands where the acknowledgement said (linearizable.ts, at the end, over all calls)
// H3 the relay accepts on its head alone and refuses only off it (witness-log.ts, at each commit)
// H4 an op is applied once, and gets the same answer again (witness-log.ts)
// H5 a replaced generation stays as it was: at the end, the storage's generations against the witness
// H6 states converge: at the end
// H7 what is private is in no frame (wire-history.ts) and, at the end, on no disk
// H9 no frame is longer than the limit (wire-history.ts); at most 64 ops of a session are in flight
// H10 what was rejected is kept until it is discarded: as H1
// C37, C38 no tab sends ops in a lead that is over (fence-watch.ts)
// H12 the status tells what the rows say, in every tab
// H8 and H11 are not for these worlds: test/client/actors.test.ts, test/client/cost.test.ts.
import type { MemoryDisk } from "../../src/store/memory-disk.ts";
import type { PendingOp, RunRow, SessionRow, StateRow } from "../../src/store/sync-rows.ts";
import { ACTOR, type Device } from "./device.ts";
import { heldIds, type Ledger, rows } from "./ledger.ts";
import type { Log } from "./linearizable.ts";
import type { WireHistory } from "./wire-history.ts";
import type { WitnessLog } from "./witness-log.ts";
import type { World } from "./world.ts";

export interface Watched {
  readonly world: World;
  readonly ledger: Ledger;
  readonly witness: WitnessLog;
  readonly wire: WireHistory;
}

/** What does not hold now that must hold always. Looks at what is committed, and changes nothing. */
export function broken({ world, ledger, witness, wire }: Watched): string[] {
  const found = [...witness.problems, ...wire.problems];
  for (const device of world.devices) {
    found.push(
      ...device.sights,
      ...device.fence.sights,
      ...strayConfirmed(device, witness),
      ...falseStatus(device),
    );
  }
  found.push(...missing(world, ledger, witness));
  return found;
}

function missing({ devices }: World, { committed, discarded }: Ledger, { ever }: WitnessLog): string[] {
  const held = new Map(devices.map(({ name, disk }) => [name, heldIds(disk)]));
  return committed
    .filter(({ id, device }) => {
      return !ever.has(id) && !discarded.has(id) && held.get(device.slice(0, 1))?.has(id) !== true;
    })
    .map(({ id, device }) => `${id}, which ${device} committed, is nowhere`);
}

function strayConfirmed({ name, disk }: Device, witness: WitnessLog): string[] {
  const found: string[] = [];
  const runs = rows<RunRow>(disk, "runs");
  for (const { id, incarnation, head } of rows<SessionRow>(disk, "sessions")) {
    if (incarnation === null) continue;
    const log = witness.life(ACTOR, id, incarnation) ?? [];
    const held = runs
      .filter(({ session, generation }) => session === id && generation === head.generation)
      .flatMap(({ messages }) => messages.map((message) => String(message.id)));
    if (held.length !== head.count) found.push(`${name} holds ${held.length} of ${head.count} in ${id}`);
    if (!isBeginning(held, log, head.generation))
      found.push(`${name} holds in ${id} as confirmed what the relay has not`);
  }
  return found;
}

function isBeginning(held: readonly string[], log: Log, generation: number): boolean {
  const standing = log[generation] ?? [];
  return held.every((id, index) => standing[index] === id);
}

/** The counts of each tab against the rows. While the disk fails, and a little longer, they may be old. */
function falseStatus({ name, disk, trouble, life, client, second }: Device): string[] {
  if (!trouble.over) return [];
  const told = owed(disk);
  const found: string[] = [];
  for (const tab of [{ name, life, client }, ...(second === undefined ? [] : [second])]) {
    if (tab.life.dead) continue;
    const { pending, rejected } = tab.client.status;
    if (pending !== told.pending || rejected !== told.rejected)
      found.push(
        `${tab.name} says ${pending} pending, ${rejected} rejected; there are ${told.pending}, ${told.rejected}`,
      );
  }
  return found;
}

function owed(disk: MemoryDisk): { readonly pending: number; readonly rejected: number } {
  const unsent = rows<StateRow>(disk, "state").filter((row) => row.unsent === 1);
  const pending = rows<PendingOp>(disk, "outbox").length + new Set(unsent.map(({ session }) => session)).size;
  return { pending, rejected: rows(disk, "rejected").length };
}
