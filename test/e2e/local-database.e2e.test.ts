import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { localDatabaseCases } from "../contracts/local-database.ts";
import { openStoreBrowser, type StoreBrowser } from "../support/store-browser.ts";

let browser: StoreBrowser;
beforeAll(async () => {
  browser = await openStoreBrowser();
});
afterAll(() => browser?.close());

describe("DexieDatabase in Chromium's IndexedDB", () => {
  const names = localDatabaseCases(() => Promise.reject(new Error("the page has the places"))).map(
    ({ name }) => name,
  );
  test.each(names)("%s", async (name) => {
    expect(await browser.run("database", name)).toBe("");
  });
});
