import type { Clock } from "../env/clock.ts";
import type { LocalDatabase } from "../store/database.ts";
import type { SyncRows } from "../store/sync-rows.ts";

export interface LeaseOptions {
  readonly db: LocalDatabase<SyncRows>;
  readonly clock: Clock;
  /** Tells this tab from the others. */
  readonly tab: string;
  readonly signal: AbortSignal;
}

/** How long a lease is good without being renewed, in milliseconds. A third of it passes between renewals and looks. */
export const LEASE_MS = 9_000;
const LOOK_MS = LEASE_MS / 3;

/**
 * What takes the place of a queued lock in browsers without Web Locks: a row in the database says who leads, and until
 * when. Waits until it is free, holds it while `work` runs, tells `lost` when another has taken it meanwhile.
 */
export async function holdLease(
  options: LeaseOptions,
  work: () => Promise<void>,
  lost: () => void,
): Promise<void> {
  const { db, clock, tab, signal } = options;
  while (!(await take(db, clock, tab))) {
    await pause(clock, LOOK_MS, signal);
    signal.throwIfAborted();
  }
  let over = false;
  let stop = (): void => {};
  const renew = (): void => {
    stop = clock.after(LOOK_MS, () => {
      // A write that fails is no verdict: the lease runs out by itself, and the fence is the epoch.
      void take(db, clock, tab).then(
        (held) => {
          if (over) return;
          if (held) renew();
          else lost();
        },
        () => {
          if (!over) renew();
        },
      );
    });
  };
  renew();
  try {
    await work();
  } finally {
    over = true;
    stop();
    await release(db, tab);
  }
}

/** Takes or renews the lease, if nobody else holds it. */
function take(db: LocalDatabase<SyncRows>, clock: Clock, tab: string): Promise<boolean> {
  return db.write(["meta"], async (tx) => {
    const now = clock.now();
    const held = readLease((await tx.get("meta", ["lease"]))?.value);
    // One that is good for longer than a lease can be was given before the clock jumped back.
    const standing = held !== undefined && held.untilMs > now && held.untilMs <= now + LEASE_MS;
    if (standing && held.tab !== tab) return false;
    await tx.put("meta", { key: "lease", value: { tab, untilMs: now + LEASE_MS } });
    return true;
  });
}

async function release(db: LocalDatabase<SyncRows>, tab: string): Promise<void> {
  try {
    await db.write(["meta"], async (tx) => {
      if (readLease((await tx.get("meta", ["lease"]))?.value)?.tab === tab)
        await tx.delete("meta", ["lease"]);
    });
  } catch {
    // It runs out by itself.
  }
}

function readLease(value: unknown): { readonly tab: string; readonly untilMs: number } | undefined {
  if (typeof value !== "object" || value === null || !("tab" in value) || !("untilMs" in value))
    return undefined;
  const { tab, untilMs } = value;
  return typeof tab === "string" && typeof untilMs === "number" ? { tab, untilMs } : undefined;
}

/** Resolves after the time, or as soon as the signal aborts. */
function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      cancel();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const cancel = clock.after(ms, done);
    signal.addEventListener("abort", done, { once: true });
  });
}
