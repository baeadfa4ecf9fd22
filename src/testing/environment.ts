import type { Environment } from "../env/environment.ts";
import type { Persistence } from "../env/persistence.ts";
import type { Reporter, ReportLevel } from "../env/reporter.ts";
import type { Sockets } from "../env/socket.ts";
import type { Tabs } from "../env/tabs.ts";
import { standaloneTabs } from "../env/tabs.ts";
import { TestClock } from "./clock.ts";
import { TestPage } from "./page.ts";
import { type SeededRandom, seededRandom } from "./random.ts";

/** One event that was reported, as {@link TestReporter} keeps it. */
export interface TestReport {
  readonly level: ReportLevel;
  readonly event: string;
  readonly detail: Readonly<Record<string, string | number | boolean | undefined>>;
}

/** Keeps what was reported. */
export class TestReporter implements Reporter {
  readonly reports: TestReport[] = [];

  report(level: ReportLevel, event: string, detail: TestReport["detail"] = {}): void {
    this.reports.push({ level, event, detail });
  }
}

/** A client's surroundings in a test's hands: what {@link testEnvironment} makes and `openClient` takes as `env`. */
export interface TestEnvironment extends Environment {
  readonly clock: TestClock;
  readonly random: SeededRandom;
  readonly page: TestPage;
  readonly reporter: TestReporter;
}

/** Parts to use in place of fresh ones. */
export interface TestEnvironmentOptions {
  readonly seed?: number | undefined;
  readonly clock?: TestClock | undefined;
  /** A cable of a test network. Without one no connection can be made. */
  readonly sockets?: Sockets | undefined;
  /** A tab of a simulated profile. Without one the client stands alone. */
  readonly tabs?: Tabs | undefined;
  readonly page?: TestPage | undefined;
  /** What the browser promises of stored data. Without it there is no such promise. */
  readonly persistence?: Persistence | undefined;
}

/** Everything a client takes from the outside, in a test's hands. */
export function testEnvironment(options: TestEnvironmentOptions = {}): TestEnvironment {
  const clock = options.clock ?? new TestClock();
  return {
    clock,
    random: seededRandom(options.seed ?? 1),
    sockets: options.sockets ?? noNetwork(clock),
    tabs: options.tabs ?? standaloneTabs(),
    page: options.page ?? new TestPage(),
    reporter: new TestReporter(),
    persistence: options.persistence,
  };
}

function noNetwork(clock: TestClock): Sockets {
  return {
    connect: (_url, events) => {
      clock.after(0, () => events.closed(1006, "There is no network"));
      return { send: () => {}, close: () => {}, bufferedBytes: 0 };
    },
  };
}
