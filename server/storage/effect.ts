import type { Head } from "../../src/model/revision.ts";
import type { Accepted, OpWrite, SessionRow } from "./contract.ts";
import { type Commit, type Decision, type Facts, refuseLimit, refuseState } from "./decision.ts";
import { entryOf } from "./entry.ts";
import { changeMetadata } from "./metadata-change.ts";

/** What an op does by its kind, before the state and metadata that come with it. */
export interface Effect extends Partial<Pick<Commit, "archive" | "begin" | "put" | "living" | "erase">> {
  readonly next: SessionRow;
  readonly head: Head;
  readonly added?: number;
  readonly changed: boolean;
  readonly outcome?: "applied" | "present";
}

/** State and metadata join the op's own effect, or refuse all of it (P13, P23, P27). */
export function commit(write: OpWrite, session: SessionRow, facts: Facts, effect: Effect): Decision {
  const { limits } = facts;
  const state = write.kind === "append" || write.kind === "replace" ? write.state : undefined;
  const changes = write.kind === "delete" ? undefined : write.metadata;
  const stateful = state === undefined ? effect.next : withState(effect.next, state);
  if (state !== undefined && stateful.stateBytes > limits.maxStateBytes) return refuseState(session, limits);
  const metadata = changeMetadata(session.metadata, changes, limits.maxMetadataBytes);
  if (metadata === "too-large") {
    return refuseLimit("too-large", "maxMetadataBytes", limits.maxMetadataBytes);
  }
  const merged = metadata === "same" ? stateful : { ...stateful, metadata };
  const changed =
    effect.changed || state !== undefined || metadata !== "same" || facts.session?.deleted !== false;
  // Renaming, archiving and reading do not move a conversation to the top of the list.
  const moves = write.kind !== "edit" || facts.session?.deleted !== false;
  const updatedAtMs = moves ? facts.nowMs : merged.updatedAtMs;
  const next = changed ? { ...merged, seq: facts.position + 1, updatedAtMs } : merged;
  const { head, added = 0, outcome = "applied" } = effect;
  const answer = accepted(next, {
    outcome,
    head,
    added,
    entry: changed ? entryOf(write.session, next) : undefined,
  });
  return {
    act: "commit",
    commit: {
      next,
      living: effect.living ?? 0,
      erase: effect.erase ?? false,
      archive: effect.archive,
      begin: effect.begin,
      put: effect.put,
      messages:
        effect.put === undefined || write.kind === "edit" || write.kind === "delete" ? [] : write.messages,
      state,
      remember: {
        digest: write.digest,
        incarnation: next.incarnation,
        head,
        added,
        stateCursor: next.stateCursor,
      },
      answer,
    },
  };
}

export function accepted(
  row: SessionRow,
  told: Pick<Accepted, "outcome" | "head" | "added" | "entry">,
): Accepted {
  return {
    ok: true,
    ...told,
    incarnation: row.incarnation,
    seq: told.entry === undefined ? 0 : row.seq,
    stateCursor: row.stateCursor,
    deleted: row.deleted,
    held: { updates: row.stateUpdates, bytes: row.stateBytes },
  };
}

export function withState(row: SessionRow, update: Uint8Array): SessionRow {
  return {
    ...row,
    stateCursor: row.stateCursor + 1,
    stateUpdates: row.stateUpdates + 1,
    stateBytes: row.stateBytes + update.byteLength,
  };
}
