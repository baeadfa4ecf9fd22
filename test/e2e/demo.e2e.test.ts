import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type DemoServer, serveDemo } from "../../demo/serve.ts";
import { run } from "../../scripts/run.ts";
import { type Browser, openChromium } from "../support/chromium.ts";
import { type CutProxy, openCutProxy } from "../support/cut-proxy.ts";
import { startDemoAgent } from "../support/demo-agent.ts";
import { type RelayProcess, startRelayProcess } from "../support/relay-process.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const transcripts = join(root, "test/data/agent-transcripts.jsonl");
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let folder: string;
let relay: RelayProcess;
let cable: CutProxy;
let agent: ChildProcess;
let agentUrl: string;
let site: DemoServer;
let siteIsDown = false;
const browsers: Browser[] = [];

const serve = (port = 0): Promise<DemoServer> => serveDemo({ folder, relayUrl: cable.url, agentUrl, port });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-demo-"));
  // As a developer builds it: the page of this test is the one that is shipped, service worker included.
  const { VITEST: _, ...inherited } = process.env;
  const env = { ...inherited, NODE_ENV: "production" };
  const code = await run("npx", ["vite", "build", "--outDir", folder, "--logLevel", "warn"], {
    cwd: root,
    env,
  });
  if (code !== 0) throw new Error(`vite build ended with ${code}`);
  relay = await startRelayProcess();
  cable = await openCutProxy(relay.port);
  ({ agent, url: agentUrl } = await startDemoAgent(relay.url));
  site = await serve();
});

// What one test took away and failed to give back is not missed by the next.
beforeEach(async () => {
  cable.heal();
  if (siteIsDown) site = await serve();
  siteIsDown = false;
});

afterAll(async () => {
  for (const browser of browsers) await browser.dispose();
  if (!siteIsDown) await site?.close();
  agent?.kill("SIGTERM");
  await cable?.close();
  await relay?.dispose();
  rmSync(folder, { recursive: true, force: true });
});

async function openPage(name: string, query = ""): Promise<Page> {
  const browser = await openChromium();
  browsers.push(browser);
  const page = await browser.context.newPage();
  await page.goto(site.url + query);
  await page.getByLabel("Your name").fill(name);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByLabel("Message", { exact: true }).waitFor();
  return page;
}

async function send(page: Page, text: string): Promise<void> {
  await page.getByLabel("Message", { exact: true }).fill(text);
  await page.keyboard.press("Enter");
  await page.locator(".message", { hasText: text }).first().waitFor();
}

const status = (page: Page) => page.getByTestId("sync-status");
const banner = (page: Page, text: string) => page.locator(".sync-banner", { hasText: text });
const said = (page: Page, text: string) => page.locator('.message[data-side="agent"]', { hasText: text });
const own = (page: Page) => page.locator('.message[data-side="person"]');
/** Does not wait for the backoff, unless the client was faster and the button is gone. */
async function tryNow(page: Page): Promise<void> {
  const button = page.getByRole("button", { name: "Try now" });
  await button.click({ timeout: 1_000 }).catch(() => undefined);
}
/** Nothing waits, and nothing that has come will make something wait: what is read is marked soon after it shows. */
async function quiet(page: Page): Promise<void> {
  for (let calm = 0; calm < 10; ) {
    calm = (await status(page).textContent()) === "All saved" ? calm + 1 : 0;
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 50)));
  }
}
const deliveries = (page: Page): Promise<(string | null)[]> =>
  own(page).evaluateAll((all) => all.map((one) => one.getAttribute("data-delivery")));

test("[H1, H12] asked and answered; offline two more are written, counted, and kept by a reload without any server; then all are confirmed", async () => {
  const page = await openPage("Ada Lovelace");
  await send(page, "What is 17 × 23 + 4?");
  await page.locator(".message strong", { hasText: "395" }).waitFor();
  await expect.poll(() => deliveries(page)).toEqual(["confirmed"]);
  await quiet(page);
  // The page's shell must be in the browser before its server can go.
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  const port = Number(new URL(site.url).port);

  cable.cut();
  await site.close();
  siteIsDown = true;
  await send(page, "First, written in the tunnel");
  await send(page, "Second, still in the tunnel");
  await banner(page, "2 waiting to be sent").waitFor();
  await expect.poll(() => deliveries(page)).toEqual(["confirmed", "pending", "pending"]);

  await page.reload();
  await page.getByText("Second, still in the tunnel").first().waitFor();
  await banner(page, "2 waiting to be sent").waitFor();
  await expect.poll(() => deliveries(page)).toEqual(["confirmed", "pending", "pending"]);
  expect(await own(page).allTextContents()).toEqual([
    expect.stringContaining("17 × 23"),
    expect.stringContaining("First"),
    expect.stringContaining("Second"),
  ]);

  site = await serve(port);
  siteIsDown = false;
  cable.heal();
  await tryNow(page);
  await expect.poll(() => deliveries(page)).toEqual(["confirmed", "confirmed", "confirmed"]);
  await expect.poll(() => status(page).textContent()).toBe("All saved");
  await expect.poll(() => page.locator(".sync-banner").count()).toBe(0);
  await said(page, "Write on:").first().waitFor();

  const other = await openPage("ada lovelace");
  await other.getByRole("link", { name: /17 × 23/ }).click();
  await expect.poll(() => own(other).count()).toBe(3);
  expect(await own(other).allTextContents()).toEqual([
    expect.stringContaining("17 × 23"),
    expect.stringContaining("First"),
    expect.stringContaining("Second"),
  ]);
});

test("[C26, C58] the answer grows word by word, goes on after a reload in the middle, shows once, and is stopped by keyboard", async () => {
  const page = await openPage("Streams");
  const [making, agents] = [
    page.locator('[data-streaming="true"]'),
    page.locator('.message[data-side="agent"]'),
  ];
  const long = `Please weigh this ${"carefully and slowly ".repeat(12)}`.trim();
  await send(page, long);
  await making.waitFor();
  const lengths: number[] = [];
  await expect
    .poll(async () => {
      const length = (await making.textContent({ timeout: 1_000 }).catch(() => ""))?.length ?? 0;
      if (length > (lengths.at(-1) ?? 0)) lengths.push(length);
      return lengths.length;
    })
    .toBeGreaterThan(3);
  await page.screenshot({ path: "test-results/demo-stream.png" });
  await page.reload();
  await making.waitFor();
  // What was said before the reload is there, in one place, below the question.
  expect((await making.textContent())?.length).toBeGreaterThanOrEqual((lengths.at(-1) ?? 0) - 20);
  expect([await own(page).count(), await agents.count()]).toEqual([1, 1]);
  const counts = page.evaluate(() => {
    const seen = new Set<number>();
    const look = (): void => {
      seen.add(document.querySelectorAll('.message[data-side="agent"]').length);
    };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true });
    return new Promise<number[]>((resolve) => {
      const wait = (): void => {
        if (document.querySelector('[data-streaming="true"]') !== null) setTimeout(wait, 20);
        else resolve([...seen]);
      };
      wait();
    });
  });
  expect(await counts).toEqual([1]);
  await said(page, "to see what I know").waitFor();

  await send(page, `${long}, again`);
  await page.getByRole("button", { name: "Stop the answer" }).waitFor();
  await page.getByLabel("Message", { exact: true }).press("Escape");
  await page.locator('.message[data-side="agent"]', { hasText: "stopped" }).waitFor();
  expect(await agents.last().textContent()).not.toContain("to see what I know");
  await expect.poll(() => page.getByRole("button", { name: "Stop the answer" }).count()).toBe(0);
  const other = await openPage("streams");
  await other.getByRole("link", { name: /weigh this/ }).click();
  await other.locator('.message[data-side="agent"]', { hasText: "stopped" }).waitFor();
});

test("all 60 transcripts are imported by the page while offline, and stand on a second device when it is online", async () => {
  const page = await openPage("Grace");
  await expect.poll(() => status(page).textContent()).toBe("All saved");
  cable.cut();
  await page.getByLabel("File of conversations to import").setInputFiles(transcripts);
  await page.getByText("60 conversations, 1640 messages.").waitFor();
  await page.getByRole("button", { name: "Done" }).click();
  cable.heal();
  await tryNow(page);
  await expect.poll(() => status(page).textContent(), { timeout: 60_000 }).toBe("All saved");

  const other = await openPage("grace");
  await expect.poll(() => other.locator(".conversation").count(), { timeout: 60_000 }).toBe(60);
  await other.getByRole("link", { name: /book a flight from New York/ }).click();
  await other.locator("details.tool-call").first().waitFor();
  expect(await other.getByText("# Airline Agent Policy").count()).toBe(0);
  // Nobody answers what was imported.
  expect(await other.locator('.message[data-side="agent"]').last().textContent()).not.toContain("###STOP###");
});

test("[C42] logging out warns of what was not sent, and forced it leaves nothing on the device", async () => {
  const page = await openPage("Eve");
  await send(page, "hello");
  await said(page, "What is on your mind?").waitFor();
  await quiet(page);
  cable.cut();
  await send(page, "never sent");
  await banner(page, "1 waiting to be sent").waitFor();
  await page.getByRole("button", { name: "Account" }).click();
  await page.getByRole("menuitem", { name: "Log out…" }).click();
  await page.getByText("1 change has not reached the relay.").waitFor();
  await page.getByRole("button", { name: "Delete and log out" }).click();
  await page.getByLabel("Your name").waitFor();
  const left = await page.evaluate(async () => ({
    databases: (await indexedDB.databases()).map(({ name }) => name),
    drafts: sessionStorage.length,
    account: localStorage.getItem("holdfast-demo.account"),
  }));
  expect(left).toEqual({ databases: [], drafts: 0, account: null });
  cable.heal();
});

test("the page can be used by keyboard, and has no accessibility faults in light and dark, wide and narrow", async () => {
  const page = await openPage("Keys");
  await send(page, "Show me some code");
  await page.locator(".code-block").waitFor();
  await page.goto(`${site.url}#/new`);
  await send(page, "thanks");
  await page.getByText("You are welcome.").first().waitFor();

  await page.keyboard.press("Control+k");
  await page.keyboard.type("code");
  await expect.poll(() => page.locator(".conversation").count()).toBe(1);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.locator(".code-block").waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.press("Escape");
  await expect.poll(() => page.locator(".conversation").count()).toBe(2);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("F2");
  await page.keyboard.type("Renamed by keyboard");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: /Renamed by keyboard/ }).waitFor();

  const faults: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    for (const width of [1280, 390]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      for (const hash of [
        "#/",
        "#/new",
        await page
          .locator(".conversation a")
          .first()
          .evaluate((link) => (link as HTMLAnchorElement).hash),
      ]) {
        await page.evaluate((to) => {
          location.hash = to;
        }, hash);
        // A colour on its way to another is neither.
        await page.evaluate(() =>
          Promise.all(document.getAnimations().map(({ finished }) => finished.catch(() => undefined))),
        );
        await page.evaluate(axe);
        const found = await page.evaluate(async () => {
          const { violations } = await (
            window as unknown as {
              axe: { run(): Promise<{ violations: { id: string; nodes: { target: unknown[] }[] }[] }> };
            }
          ).axe.run();
          return violations.map(
            ({ id, nodes }) => `${id} ${nodes.map(({ target }) => target.join(" ")).join(", ")}`,
          );
        });
        faults.push(...found.map((fault) => `${colorScheme} ${width} ${hash}: ${fault}`));
      }
    }
  }
  expect(faults).toEqual([]);
});
