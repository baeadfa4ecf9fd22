import type { Clock } from "./clock.ts";
import type { Page } from "./page.ts";
import type { Persistence } from "./persistence.ts";
import type { Random } from "./random.ts";
import type { Reporter } from "./reporter.ts";
import type { Sockets } from "./socket.ts";
import type { Tabs } from "./tabs.ts";

/** Everything a client takes from the outside world. */
export interface Environment {
  readonly clock: Clock;
  readonly random: Random;
  readonly sockets: Sockets;
  readonly tabs: Tabs;
  readonly page: Page;
  readonly reporter: Reporter;
  readonly persistence?: Persistence | undefined;
}
