import type { Authenticator } from "../../server/authenticator.ts";
import { localBus } from "../../server/bus/local.ts";
import { limitsWith, type RelayLimits } from "../../server/limits.ts";
import { RelayCore } from "../../server/relay-core.ts";
import type { RelayStorage } from "../../server/storage/contract.ts";
import { memoryStorage } from "../../server/storage/memory.ts";
import type { Clock } from "../env/clock.ts";
import type { Random } from "../env/random.ts";
import { silentReporter } from "../env/reporter.ts";
import type { Accept } from "./network.ts";
import { seededRandom } from "./random.ts";

/** What a relay in a test is made of; what is left out is the real thing's default, in memory. */
export interface TestRelayOptions {
  /** The clock that the test moves. */
  readonly clock: Clock;
  readonly random?: Random | undefined;
  /** Outlives the relay: start another one on it to see what a restart does. */
  readonly storage?: RelayStorage | undefined;
  readonly limits?: Partial<RelayLimits> | undefined;
  /** Without one every client is believed. */
  readonly authenticate?: Authenticator | undefined;
}

/** The whole relay in this process, without sockets: give its `accept` to a `TestNetwork`. */
export interface TestRelay {
  readonly accept: Accept;
  readonly storage: RelayStorage;
  /** Ends its connections and waits for what is under way. The storage keeps what it has. */
  close(): Promise<void>;
}

/** Starts a relay in this process on a clock of the test's. @throws StorageError, InvalidInputError for bad limits */
export async function testRelay(options: TestRelayOptions): Promise<TestRelay> {
  const { clock, random = seededRandom(1), storage = memoryStorage(), limits, authenticate } = options;
  const core = await RelayCore.open({
    environment: { clock, random, reporter: silentReporter },
    storage,
    bus: localBus(),
    limits: limitsWith(limits),
    authenticate,
  });
  return {
    accept: (socket, url) => core.accept(socket, { url }),
    storage,
    close: () => core.close(),
  };
}
