import { localBus } from "../../server/bus/local.ts";
import { DEFAULT_LIMITS } from "../../server/limits.ts";
import { RelayCore } from "../../server/relay-core.ts";
import type { RelayStorage } from "../../server/storage/contract.ts";
import type { Clock } from "../../src/env/clock.ts";
import type { Random } from "../../src/env/random.ts";
import { silentReporter } from "../../src/env/reporter.ts";

/** A relay without sockets, on a test's clock. */
export function startCore(storage: RelayStorage, clock: Clock, random: Random): Promise<RelayCore> {
  return RelayCore.open({
    environment: { clock, random, reporter: silentReporter },
    storage,
    bus: localBus(),
    limits: DEFAULT_LIMITS,
  });
}
