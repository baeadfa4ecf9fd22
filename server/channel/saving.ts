import { mergeUpdates } from "yjs";
import type { Refused } from "../storage/contract.ts";
import type { ChannelHost } from "./seat.ts";

const RETRY_MIN_MS = 250;
const RETRY_MAX_MS = 10_000;

/** How a save ended. Not at all while storage fails: then it is tried again until storage heals or it is cancelled. */
export interface SaveEnd {
  /** Runs before anyone else is told of the change. */
  stored(): void;
  refused(refused: Refused): void;
}

/** Stores updates as one. Answers how to cancel it. */
export function save(
  host: ChannelHost,
  what: { readonly incarnation: string; readonly updates: readonly Uint8Array[] },
  end: SaveEnd,
): () => void {
  const { incarnation, updates } = what;
  const [only, ...others] = updates;
  const update = only !== undefined && others.length === 0 ? only : mergeUpdates([...updates]);
  let cancel = (): void => {};
  let cancelled = false;

  const attempt = (times: number): void => {
    host.store({ incarnation, update }, (answer) => {
      if (cancelled) return;
      if (answer.ok) end.stored();
      else if (answer.code !== "try-again") end.refused(answer);
      else {
        host.reporter.report("error", "state-not-stored", { times: times + 1 });
        const delayMs = Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** times);
        cancel = host.clock.after(delayMs, () => attempt(times + 1));
      }
    });
  };

  attempt(0);
  return () => {
    cancelled = true;
    cancel();
  };
}
