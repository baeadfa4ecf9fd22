import type { Client } from "holdfast";
import { useSyncStatus } from "holdfast/react";
import { useEffect, useMemo, useState } from "react";

export type RejectedOp = Awaited<ReturnType<Client["rejected"]["list"]>>[number];

export interface Rejected {
  readonly ops: readonly RejectedOp[];
  /** The op that a rejected message was part of. */
  readonly byMessage: ReadonlyMap<string, RejectedOp>;
  readonly retry: (opId: string) => void;
  readonly discard: (opId: string) => void;
}

/** What the relay can never accept, with its reasons; read again whenever their number changes. */
export function useRejected(client: Client): Rejected {
  const { rejected: count, pending } = useSyncStatus();
  const [ops, setOps] = useState<readonly RejectedOp[]>([]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the counts say that the list may have changed
  useEffect(() => {
    let wanted = true;
    client.rejected.list().then(
      (listed) => {
        if (wanted) setOps(listed);
      },
      (error: unknown) => console.error("The rejected changes could not be read", error),
    );
    return () => {
      wanted = false;
    };
  }, [client, count, pending]);
  return useMemo(() => {
    const done = (what: string) => (error: unknown) =>
      console.error(`A rejected change could not be ${what}`, error);
    return {
      ops,
      byMessage: new Map(ops.flatMap((op) => op.messages.map((message) => [message.id, op] as const))),
      retry: (opId) => void client.rejected.retry(opId).catch(done("sent again")),
      discard: (opId) => void client.rejected.discard(opId).catch(done("discarded")),
    };
  }, [client, ops]);
}
