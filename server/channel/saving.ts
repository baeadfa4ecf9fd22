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

/** Stores updates as one. State that does not fit is compacted once before it is refused. Answers how to cancel. */
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

  const attempt = (tried: { times: number; compacted: boolean }): void => {
    host.store({ incarnation, update }, (answer) => {
      if (cancelled) return;
      if (answer.ok) return end.stored();
      if (answer.code === "too-large" && !tried.compacted) return compactFirst(tried);
      if (answer.code !== "try-again") return end.refused(answer);
      host.reporter.report("error", "state-not-stored", { times: tried.times + 1 });
      const delayMs = Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** tried.times);
      cancel = host.clock.after(delayMs, () => attempt({ ...tried, times: tried.times + 1 }));
    });
  };
  const compactFirst = (tried: { times: number }): void => {
    const again = (): void => {
      if (!cancelled) attempt({ ...tried, compacted: true });
    };
    host.compact(incarnation).then(again, (error: unknown) => {
      host.reporter.report("error", "state-compaction-failed", { error: String(error) });
      again();
    });
  };

  attempt({ times: 0, compacted: false });
  return () => {
    cancelled = true;
    cancel();
  };
}
