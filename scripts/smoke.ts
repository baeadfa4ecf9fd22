// Runs the README's line "npm install && npm start" as a newcomer would, twice: opens the address it prints in a
// browser, says something, waits for the answer, and looks for both on another device after the second start.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openChromium } from "../test/support/chromium.ts";
import { requireChromium } from "./prerequisites.ts";

const line = "npm install && npm start";
const startMs = 240_000;
const said = "Does this survive a tunnel?";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
process.env.HOLDFAST_CHROMIUM = await requireChromium();
const data = mkdtempSync(join(tmpdir(), "holdfast-smoke-"));

async function withDemo(work: (address: string) => Promise<void>): Promise<void> {
  const child = spawn("bash", ["-c", line], {
    // A group of its own, so that what it starts ends with it.
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, DATA: data },
  });
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  try {
    const address = await new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`No address within ${startMs} ms.`)), startMs);
      let output = "";
      child.stdout.on("data", (chunk: Buffer) => {
        process.stdout.write(chunk);
        output += chunk;
        const found = /http:\/\/[^\s]+\/(?=\s)/.exec(output.split("demo is at")[1] ?? "");
        if (found === null) return;
        clearTimeout(timer);
        resolve(found[0]);
      });
      child.once("exit", (code) => reject(new Error(`"${line}" ended with ${code}.`)));
    });
    await work(address);
  } finally {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGINT");
    const code = await Promise.race([
      ended,
      new Promise((resolve) => setTimeout(() => resolve("late"), 15_000)),
    ]);
    if (code === "late" && child.pid !== undefined) {
      process.kill(-child.pid, "SIGKILL");
      console.error("The demo did not end within 15 s of Ctrl+C.");
      process.exitCode = 1;
    }
  }
}

async function talk(address: string, first: boolean): Promise<void> {
  const browser = await openChromium();
  try {
    const page = await browser.context.newPage();
    page.on("pageerror", (error) => console.error(`page: ${error.message}`));
    await page.goto(address);
    await page.getByLabel("Your name").fill("Smoke");
    await page.getByRole("button", { name: "Continue" }).click();
    if (first) {
      await page.getByRole("link", { name: "New conversation" }).click();
      await page.getByRole("textbox", { name: "Message" }).fill(said);
      await page.keyboard.press("Enter");
    } else await page.locator(".conversation a").first().click({ timeout: 20_000 });
    await page.locator('.message[data-side="person"]').getByText(said).waitFor({ timeout: 20_000 });
    await page.locator('.message[data-side="agent"]').first().waitFor({ timeout: 30_000 });
    console.log(first ? "Said something, and was answered." : "Another device shows it after a restart.");
  } catch (error) {
    throw new Error(`The demo at ${address} does not do what it should.`, { cause: error });
  } finally {
    await browser.dispose();
  }
}

await withDemo((address) => talk(address, true));
await withDemo((address) => talk(address, false));
rmSync(data, { recursive: true, force: true });
