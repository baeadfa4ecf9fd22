import { fileURLToPath } from "node:url";
import { untilReady } from "./desk-tab.ts";
import type { Engine, Tab } from "./engines/engine.ts";
import { Profile } from "./engines.ts";
import { openPageServer } from "./page-server.ts";
// Declares what the page puts on its window.
import type {} from "./store-page/main.ts";

export interface StoreBrowser {
  /** Runs one case of a suite in a page; gives its failure as text, or "". */
  run(suite: string, name: string): Promise<string>;
  openTab(): Promise<Tab>;
  /** SIGKILL; the next tab opens the same profile. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

/** A browser with its profile on disk, and the page of stores. */
export async function openStoreBrowser(engine: Engine): Promise<StoreBrowser> {
  const server = await openPageServer({ root: fileURLToPath(new URL("./store-page", import.meta.url)) });
  const profile = new Profile(engine);
  let shared: Tab | undefined;
  const openTab = async (): Promise<Tab> => {
    const tab = await profile.openTab(server.url);
    await untilReady(tab);
    return tab;
  };
  return {
    openTab,
    run: async (suite, name) => {
      shared ??= await openTab();
      return shared.run(([first, second]) => window.stores.run(first, second), [suite, name] as const);
    },
    kill: async () => {
      shared = undefined;
      await profile.kill();
    },
    close: async () => {
      await profile.dispose();
      await server.close();
    },
  };
}
