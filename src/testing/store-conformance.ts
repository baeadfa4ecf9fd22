import type { SessionStore } from "../store/contract.ts";
import { dataCases } from "./store-data-cases.ts";
import { logCases } from "./store-log-cases.ts";
import { ownerCases } from "./store-owner-cases.ts";
import type { StoreCase } from "./store-under-test.ts";
import { workCases } from "./store-work-cases.ts";

export type { StoreCase } from "./store-under-test.ts";

/** What {@link storeConformance} has to know of the store. */
export interface StoreConformanceOptions {
  /** The one actor whose sessions the store keeps. Without it the store keeps sessions of any actor, and of none. */
  readonly actorId?: string | undefined;
}

/**
 * The rules that every session store keeps, as cases for any test runner: loop over them and await `run`, which throws
 * when the rule is broken. Every case asks for a store of its own and uses session ids of its own, so stores may share
 * what lies below them.
 */
export function storeConformance(
  makeStore: () => Promise<SessionStore>,
  options: StoreConformanceOptions = {},
): readonly StoreCase[] {
  const { actorId } = options;
  const suites = [...logCases(actorId), ...ownerCases(actorId), ...dataCases(actorId), ...workCases(actorId)];
  return suites.map(({ name, run }) => ({ name, run: async () => run(await makeStore()) }));
}
