import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { bundle } from "../test/support/bundle.ts";
import { openChromium } from "../test/support/chromium.ts";
import { openPageServer } from "../test/support/page-server.ts";
import type { Figures, Row } from "./rows.ts";
import { startServer } from "./servers.ts";

export const browserRows: readonly Row[] = [
  {
    id: "C1",
    what: "append with count check and outbox, 10,000 held",
    of: "appends",
    better: "more",
    target: 0.45,
    unit: "/s",
  },
  { id: "C2", what: "burst of 16, messages", of: "burst", better: "more", target: 0.45, unit: "/s" },
  {
    id: "C3",
    what: "import of 10,000, to raw segments",
    of: "importMs",
    better: "less",
    target: 1.25,
    unit: "ms",
  },
  { id: "C4", what: "last 50 of 10,000", of: "last50Ms", better: "less", target: 1.5, unit: "ms" },
  { id: "C4", what: "reopen and last 50", of: "reopenMs", better: "less", target: 1.7, unit: "ms" },
  {
    id: "C5",
    what: "read all 10,000, to raw segments",
    of: "readAllMs",
    better: "less",
    target: 1.35,
    unit: "ms",
  },
  {
    id: "C7",
    what: "append to view updated, to one raw append",
    of: "viewMs",
    better: "less",
    target: 2,
    unit: "ms",
  },
];

export const browserOwnRows: readonly Row[] = [
  {
    id: "C4",
    what: "reopen and last 50, at 10,000 to at 100",
    of: "reopenFlat",
    better: "less",
    target: 1.15,
    unit: "",
  },
  { id: "C6", what: "append at 10,000, to at 0", of: "appendFlat", better: "less", target: 1.15, unit: "" },
  {
    id: "C6",
    what: "append with 10,000 unsent, to at 0",
    of: "appendFlatPending",
    better: "less",
    target: 1.15,
    unit: "",
  },
  {
    id: "D1",
    what: "checkpoint of 2 new on 10,000, to appending the 2",
    of: "checkpointToTail",
    better: "less",
    target: 1.5,
    unit: "",
  },
  {
    id: "D1",
    what: "checkpoint of 2 new, at 10,000 to at 100",
    of: "checkpointFlat",
    better: "less",
    target: 1.1,
    unit: "",
  },
  {
    id: "D1",
    what: "its bytes on the wire, to those of the append",
    of: "checkpointBytes",
    better: "less",
    target: 1.05,
    unit: "",
  },
  {
    id: "C8",
    what: "own code of the core, all of `holdfast`, gzip",
    of: "coreKb",
    better: "less",
    target: 15,
    unit: "kB",
  },
];

export interface BrowserBench {
  /** One side in a browser, a profile and, for ours, a relay of its own. */
  figures(kind: "ref" | "ours"): Promise<Figures>;
  close(): Promise<void>;
}

export async function openBrowserBench(): Promise<BrowserBench> {
  const core = await bundle('export * from "holdfast";', { external: "packages", minify: true });
  const coreKb = gzipSync(core.code).length / 1000;
  const server = await openPageServer({ root: fileURLToPath(new URL("./page", import.meta.url)) });
  return {
    async figures(kind) {
      const relay = kind === "ours" ? await startServer("ours") : undefined;
      const browser = await openChromium();
      try {
        const page = await browser.context.newPage();
        page.on("pageerror", (error) => console.error(error));
        await page.goto(server.url);
        await page.waitForSelector("html[data-ready]");
        if (relay === undefined) return await page.evaluate(() => window.bench.measureLimit());
        const url = `ws://127.0.0.1:${relay.port}`;
        await page.evaluate((given) => window.bench.ours.prepare(given), url);
        await relay.stop();
        const local = await page.evaluate((given) => window.bench.ours.measureLocal(given), url);
        await relay.restart();
        return {
          ...local,
          ...(await page.evaluate((given) => window.bench.ours.measureCheckpoint(given), url)),
          coreKb,
        };
      } finally {
        await browser.dispose();
        await relay?.close();
      }
    },
    close: () => server.close(),
  };
}
