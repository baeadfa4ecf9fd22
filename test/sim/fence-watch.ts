import type { Clock } from "../../src/env/clock.ts";
import { MemoryDatabase } from "../../src/store/memory-database.ts";
import type { MemoryDisk } from "../../src/store/memory-disk.ts";
import { type MetaRow, SYNC_SCHEMA, type SyncRows } from "../../src/store/sync-rows.ts";
import type { TestReporter } from "../../src/testing/environment.ts";
import { rows } from "./ledger.ts";

/** Sees to it that of a device's tabs none sends ops in a lead that is over (C37, C38). */
export class FenceWatch {
  readonly sights: string[] = [];
  readonly #clock: Clock;
  /** When each lead was over. */
  readonly #overMs = new Map<number, number>();
  #epoch = 0;

  constructor(disk: MemoryDisk, clock: Clock) {
    this.#clock = clock;
    new MemoryDatabase<SyncRows>(SYNC_SCHEMA, { disk }).watch(({ tables }) => {
      if (!tables.has("meta")) return;
      const row = rows<MetaRow>(disk, "meta").find(({ key }) => key === "epoch");
      const epoch = Number(row?.value ?? 0);
      if (epoch !== this.#epoch) this.#overMs.set(this.#epoch, clock.now());
      this.#epoch = epoch;
    });
  }

  /** A tab sends a frame. */
  sends(data: string | Uint8Array, { reports }: TestReporter): void {
    if (typeof data !== "string" || !/"type":"(append|replace|edit|delete)"/u.test(data)) return;
    const led = reports.findLast(({ event }) => event === "leader.leads")?.detail.epoch;
    if (typeof led !== "number") this.sights.push("A tab sent without ever leading");
    // What left in the very moment in which the lead ended had looked before.
    else if (this.#clock.now() > (this.#overMs.get(led) ?? Number.POSITIVE_INFINITY))
      this.sights.push(`A tab sent for lead ${led}, which was over`);
  }
}
