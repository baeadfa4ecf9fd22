import type { Reporter } from "../../src/env/reporter.ts";
import { limitTold } from "../limits.ts";
import { TimeBoxError } from "../time-box.ts";
import type { Ending } from "./seat.ts";
import type { StateDocument } from "./state-document.ts";
import { boundedBySize, checkUpdate, type StateBound } from "./update-check.ts";

/** What of an update is new; or why it is refused, and whether the document can still be used. */
export type Took =
  | { readonly news: readonly Uint8Array[] }
  | { readonly refused: Ending; readonly unusable: boolean };

const NO_UPDATE: Ending = { code: "invalid-state", message: "Not a Yjs update that can be applied" };

/** Takes an update into a document once it was checked by itself (rule P53). */
export function takeUpdate(
  update: Uint8Array,
  document: StateDocument,
  { maxStateBytes, stateCheckMs, bound, reporter }: TakingLimits,
): Took {
  if (update.byteLength > maxStateBytes) return refuse(overLimit("maxStateBytes", maxStateBytes));
  const slow = overLimit("stateCheckMs", stateCheckMs);
  const checked = checkUpdate(update, bound);
  if (checked === "empty") return { news: [] };
  if (checked !== "good") return refuse(checked === "slow" ? slow : NO_UPDATE);
  try {
    return { news: boundedBySize(update, bound, () => document.take(update)) };
  } catch (error) {
    if (error instanceof TimeBoxError) return refuse(slow, true);
    reporter.report("error", "state-update-failed", { error: String(error) });
    return refuse(NO_UPDATE, true);
  }
}

export interface TakingLimits {
  readonly maxStateBytes: number;
  readonly stateCheckMs: number;
  readonly bound: StateBound;
  readonly reporter: Reporter;
}

function refuse(refused: Ending, unusable = false): Took {
  return { refused, unusable };
}

function overLimit(name: "maxStateBytes" | "stateCheckMs", max: number): Ending {
  return { code: "too-large", ...limitTold(name, max) };
}
