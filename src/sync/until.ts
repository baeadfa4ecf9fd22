import type { Clock } from "../env/clock.ts";
import {
  ConflictError,
  HoldfastError,
  RejectedError,
  StorageError,
  type StorageErrorReason,
} from "../model/errors.ts";
import type { JsonObject } from "../model/json.ts";
import { EMPTY_REVISION, type Revision } from "../model/revision.ts";
import type { LocalDatabase } from "../store/database.ts";
import { isWiped } from "../store/erase.ts";
import type { Generation } from "../store/live-store.ts";
import type { PendingOp, SessionRow, SyncRows } from "../store/sync-rows.ts";

/** What the store asks of the connection. */
export interface Connected {
  /** Whether what is missing here may still come: the link is up, or coming up for the first time. */
  mayStillCome(row: SessionRow | undefined): boolean;
  /** The client is closed: nothing comes any more. */
  readonly closed: boolean;
  /** Told when that may have changed. */
  watch(listener: () => void): () => void;
  generations(id: string, incarnation: string): Promise<readonly Generation[]>;
  generationMessages(id: string, incarnation: string, generation: number): Promise<readonly JsonObject[]>;
}

/** How long after a failed read it is tried again. */
const AGAIN_MS = 1_000;

/** After these a database that is open stays unusable in this page. */
const LOST: ReadonlySet<StorageErrorReason> = new Set(["upgrade-required", "reset", "closed"]);

interface Waiting {
  readonly clock: Clock;
  readonly connected: Connected;
}

/**
 * Reads what was committed, however long the storage fails: a write that is told as failed has left nothing (H1).
 * @throws HoldfastError `closed` when this page never reads it again: what was written is kept, and its next client has it.
 */
export async function untilRead<T>({ clock, connected }: Waiting, read: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof StorageError) || connected.closed) throw error;
      if (LOST.has(error.reason)) {
        throw closed(
          "The write is kept on this device, but this page cannot read it any more: reload",
          error,
        );
      }
      await new Promise<void>((resolve) => void clock.after(AGAIN_MS, resolve));
    }
  }
}

/** Resolves when the op is out of the outbox and the relay's. @throws RejectedError, ConflictError when it was set aside. */
export async function untilConfirmed(
  { db, connected, clock }: Waiting & { readonly db: LocalDatabase<SyncRows> },
  { id, opId }: { readonly id: string; readonly opId: string },
): Promise<void> {
  await until(
    (wake) => watchBoth(db, connected, { id, wake }),
    () =>
      untilRead({ clock, connected }, () =>
        db.read(["outbox", "rejected", "meta"], async (tx) => {
          if (await isWiped(tx)) throw closed("Another tab logged out before the relay confirmed the write");
          if ((await tx.list("outbox", { by: "op", prefix: [opId], limit: 1 })).length > 0) {
            if (!connected.closed) return undefined;
            throw closed(
              "The client was closed before the relay confirmed the write, which is in the outbox",
            );
          }
          const rejected = await tx.get("rejected", [id, opId]);
          if (rejected === undefined) return true;
          throw rejected.reason === "conflict"
            ? new ConflictError(undefined, {
                expected: expectedOf(rejected.op),
                actual: rejected.actual ?? EMPTY_REVISION,
              })
            : new RejectedError(rejected.message, { reason: rejected.reason });
        }),
      ),
  );
}

/** Waits while the relay is known to have more than is held here of a session nobody has read yet. */
export async function untilArrived(
  db: LocalDatabase<SyncRows>,
  connected: Connected,
  id: string,
): Promise<void> {
  await until(
    (wake) => watchBoth(db, connected, { id, wake }),
    async () => {
      if (connected.closed) throw closedTooSoon();
      const row = await db.read(["sessions"], (tx) => tx.get("sessions", [id]));
      return connected.mayStillCome(row) ? undefined : true;
    },
  );
}

/** Whether nothing is held here that could be told instead of what the relay may have. */
export function isUnread(row: SessionRow | undefined): boolean {
  return row === undefined || (!row.fetched && row.view.pending === 0);
}

/** A read must not tell as empty what was never read. */
export function closedTooSoon(): HoldfastError {
  return closed("The client was closed before the session had arrived");
}

function closed(message: string, cause?: unknown): HoldfastError {
  return new HoldfastError(message, { code: "closed", cause });
}

function watchBoth(
  db: LocalDatabase<SyncRows>,
  connected: Connected,
  { id, wake }: { readonly id: string; readonly wake: () => void },
): () => void {
  const ends = [db.watch(({ sessions }) => sessions.has(id) && wake()), connected.watch(wake)];
  return () => {
    for (const end of ends) end();
  };
}

function expectedOf(op: PendingOp): Revision {
  return op.kind === "edit" || op.kind === "delete" ? EMPTY_REVISION : (op.expected ?? EMPTY_REVISION);
}

/** Waits until `check` gives something, asking again whenever `watch` wakes it. */
async function until<T>(
  watch: (wake: () => void) => () => void,
  check: () => Promise<T | undefined>,
): Promise<T> {
  let wake = (): void => undefined;
  let woken = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const end = watch(() => wake());
  try {
    for (;;) {
      const result = await check();
      if (result !== undefined) return result;
      await woken;
      woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    end();
  }
}
