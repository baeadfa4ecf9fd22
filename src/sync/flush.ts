import type { Clock } from "../env/clock.ts";
import { within } from "../env/within.ts";
import { invalidInput } from "../model/errors.ts";
import { storageError } from "../store/storage-failure.ts";
import type { StatusBoard } from "./status.ts";

export interface FlushOptions {
  /** Ends the waiting. */
  readonly signal?: AbortSignal | undefined;
  /** How long to wait at most, in milliseconds; 30,000 unless told otherwise. */
  readonly timeoutMs?: number | undefined;
}

/** How long `flush` waits unless told otherwise. */
export const FLUSH_LIMIT_MS = 30_000;

/** How long after that the storage may take to tell what is left. */
const ANSWER_MS = 1_000;

/**
 * Waits until nothing is pending, the limit has passed, or the signal aborts; tells what is left.
 * @throws StorageError `blocked` when the database could not be opened in that time, `reset` when it was deleted
 * meanwhile, `timeout` when it does not answer.
 */
export async function flush(
  board: StatusBoard,
  clock: Clock,
  { signal, timeoutMs = FLUSH_LIMIT_MS }: FlushOptions,
): Promise<{ readonly pending: number }> {
  if (!(typeof timeoutMs === "number" && timeoutMs >= 0))
    throw invalidInput("timeoutMs", "must be a number of milliseconds from 0");
  if (signal !== undefined && typeof (signal as AbortSignal | null)?.addEventListener !== "function")
    throw invalidInput("signal", "must be an AbortSignal");
  let told = false;
  await new Promise<void>((resolve) => {
    const ends: (() => void)[] = [];
    const done = (): void => {
      for (const end of ends) end();
      resolve();
    };
    const look = (): void => {
      const { pending, link, storage } = board.status;
      if (link === "closed" || (told && pending === 0 && storage !== "blocked")) done();
    };
    ends.push(board.subscribe(look), clock.after(timeoutMs, done));
    signal?.addEventListener("abort", done);
    ends.push(() => signal?.removeEventListener("abort", done));
    if (signal?.aborted === true) return done();
    // Not waited for by itself: storage that does not answer keeps nobody beyond the limit.
    void board.refresh().then(() => {
      told = true;
      look();
    });
  });
  // What a database holds that is not open yet, nobody knows.
  if (board.status.storage === "blocked") throw storageError("blocked");
  // Nothing is left where everything was deleted: that is not to be told as if all had gone out.
  if (board.status.link === "closed" && board.status.storage === "reset") throw storageError("reset");
  await within(clock, ANSWER_MS, board.refresh(), () => {
    throw storageError("timeout");
  });
  return { pending: board.status.pending };
}
