import { expect } from "vitest";
import { memoryStorage } from "../../server/storage/memory.ts";
import { StorageError } from "../../src/model/errors.ts";
import { SESSION } from "./device.ts";
import { checkEnd } from "./end.ts";
import { broken } from "./invariants.ts";
import { Ledger } from "./ledger.ts";
import { RelayDisk } from "./relay-disk.ts";
import { STEPS } from "./steps.ts";
import { WireHistory } from "./wire-history.ts";
import { WitnessLog } from "./witness-log.ts";
import { World } from "./world.ts";

/** One thing that happens in a world: to which device, what, and a number that decides its details. */
export interface Scripted {
  readonly device: number;
  readonly step: string;
}

/** How many clients share a world. */
export const DEVICES = 3;

/** How often each fault was injected, over all worlds of this process. */
export const injected = new Map<string, number>();

/** One world: trouble by the script, then peace; everything that was promised is checked. Tells the trace of it all. */
export async function run(seed: number, script: readonly Scripted[]): Promise<string> {
  const witness = new WitnessLog();
  const storage = memoryStorage();
  const relayDisk = new RelayDisk(storage, (write, answer) => witness.took(write, answer));
  const world = await World.begin(seed, storage, DEVICES, relayDisk);
  const wire = new WireHistory(SESSION);
  const ledger = new Ledger();
  for (const { name, cable } of world.devices) cable.watch((frame) => wire.saw(name, frame, world.moment()));
  const check = async (when: string): Promise<void> => {
    await world.clock.advance(0);
    expect(broken({ world, ledger, witness, wire }), when).toEqual([]);
  };
  try {
    for (const { device: index, step } of script) {
      const device = world.devices[index];
      const work = STEPS.get(step)?.work;
      if (device === undefined || work === undefined) throw new Error(`No step ${step} for device ${index}`);
      world.note(`${device.name} ${step}`);

      await world.during(device.revive());
      const done = device.life.during(work({ world, device, ledger, relayDisk }));
      await world.during(done.catch(unlessDisk));
      await check(`${device.name} ${step}`);
    }
    await world.settle();
    await check("settled");
    await world.during(checkEnd({ world, ledger, witness, wire }));
    return world.trace();
  } finally {
    for (const { trouble, deaths } of world.devices) {
      count(trouble.injected, "disk");
      count(new Map([["dead at a call", deaths]]), "tab");
    }
    count(relayDisk.injected, "relay");
    await world.during(world.close());
  }
}

function count(faults: ReadonlyMap<string, number>, of: string): void {
  for (const [fault, times] of faults) {
    injected.set(`${of} ${fault}`, (injected.get(`${of} ${fault}`) ?? 0) + times);
  }
}

/** What a disk that fails may answer. */
function unlessDisk(error: unknown): void {
  if (!(error instanceof StorageError)) throw error;
}
