/** A page of one of the three engines, as far as the tests need it. */
export interface Tab {
  /** Runs a function inside the page. It sees nothing of the test but `given`; both ways travel as JSON. */
  run<R>(work: () => R): Promise<Awaited<R>>;
  run<A, R>(work: (given: A) => R, given: A): Promise<Awaited<R>>;
  /** Loads an address. The address it already shows is a reload. */
  goto(url: string): Promise<void>;
  /** Closes the tab as a user would. */
  close(): Promise<void>;
  /** Crashes the page's process and closes what is left; where only Chromium can be told to crash, just closes. */
  kill(): Promise<void>;
}

/** A running browser with its profile on disk. */
export interface EngineBrowser {
  openTab(): Promise<Tab>;
  /** SIGKILL, in the middle of whatever it does. Resolves when it is gone; its tabs answer nothing any more. */
  kill(): Promise<void>;
  /** Ends it in order. */
  close(): Promise<void>;
}

export interface Engine {
  readonly name: "chromium" | "firefox" | "webkit";
  /** What is missing on this machine, and how to install it; undefined where the engine can be driven. */
  lacking(): string | undefined;
  open(profile: string): Promise<EngineBrowser>;
}

/** A script that runs `work` in a page and whose value is the result as JSON. */
export function expressionOf(work: (given: never) => unknown, given: unknown): string {
  return `(async () => JSON.stringify({ value: await (${work})(${JSON.stringify(given)}) }))()`;
}

/** The tab that an engine makes of what its driver can do. */
export function tabOf(driver: {
  evaluate(expression: string): Promise<string>;
  goto(url: string): Promise<unknown>;
  close(): Promise<unknown>;
  kill?(): Promise<unknown>;
}): Tab {
  return {
    run: async <A, R>(work: (given: A) => R, given?: A): Promise<Awaited<R>> =>
      (JSON.parse(await driver.evaluate(expressionOf(work, given))) as { value: Awaited<R> }).value,
    goto: async (url) => void (await driver.goto(url)),
    close: async () => void (await driver.close()),
    kill: async () => void (await (driver.kill ?? driver.close)()),
  };
}
