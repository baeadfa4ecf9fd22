import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { storeConformance } from "../../src/testing/store-conformance.ts";
import { enginesHere } from "../support/engines.ts";
import { openStoreBrowser, type StoreBrowser } from "../support/store-browser.ts";

describe.each(enginesHere())("DexieStore in $name", (engine) => {
  let browser: StoreBrowser;
  beforeAll(async () => {
    browser = await openStoreBrowser(engine);
  });
  afterAll(() => browser?.close());

  describe("[T8] passes the suite that ships", () => {
    const names = storeConformance(() => Promise.reject(new Error("the page has the stores"))).map(
      ({ name }) => name,
    );
    test.each(names)("%s", async (name) => {
      expect(await browser.run("store", name)).toBe("");
    });
  });

  test("[C9] what an append resolved for is there after SIGKILL of the browser", async () => {
    const tab = await browser.openTab();
    const written = await tab.run(async () => {
      const { createMessage, openStore, serializeMessage } = window.stores;
      const messages = Array.from({ length: 130 }, (_, at) =>
        createMessage({ role: "user", content: `${at} ü😀` }),
      );
      const state = JSON.parse('{"__proto__":{"a":1},"deep":[{"constructor":2}],"lone":"\\ud800"}');
      await openStore("kept").append("s", {
        messages,
        state,
        metadata: { t: "x" },
        expectedCount: 0,
        actorId: "ann",
      });
      return JSON.stringify(messages.map(serializeMessage));
    });
    await browser.kill();
    const again = await browser.openTab();
    const read = await again.run(async () => {
      const { openStore, serializeMessage } = window.stores;
      const snapshot = await openStore("kept").load("s", { actorId: "ann" });
      return {
        messages: JSON.stringify(snapshot?.messages.map(serializeMessage)),
        state: JSON.stringify(snapshot?.state),
      };
    });
    expect(read.messages).toBe(written);
    expect(read.state).toBe('{"__proto__":{"a":1},"deep":[{"constructor":2}],"lone":"\\ud800"}');
  });

  test("[S13] work of two tabs on one session runs one at a time", async () => {
    const tabs = [await browser.openTab(), await browser.openTab()];
    const counts = await Promise.all(
      tabs.map((tab) =>
        tab.run(async () => {
          const store = window.stores.openStore("shared");
          for (let n = 0; n < 10; n += 1) {
            await store.synchronize("s", {}, async () => {
              const snapshot = await store.load("s", {});
              const count = snapshot?.revision.count ?? 0;
              const messages = [window.stores.createMessage({ role: "user", content: `${count}` })];
              await store.append("s", {
                messages,
                state: { count: count + 1 },
                metadata: {},
                expectedCount: count,
              });
            });
          }
          return 10;
        }),
      ),
    );
    expect(counts).toEqual([10, 10]);
    const state = await tabs[0]?.run(
      async () => (await window.stores.openStore("shared").load("s", {}))?.state,
    );
    expect(state).toEqual({ count: 20 });
  });
});
