import { HoldfastProvider, type SessionsView, useSessions } from "holdfast/react";
import type { ReactNode } from "react";
import { expect, test } from "vitest";
import { CatalogView } from "../../src/react/catalog-view.ts";
import { asClient, FakeClient } from "../demo/fake-client.ts";
import { mount } from "./light-dom.ts";

function clientWith(count: number): FakeClient {
  const fake = new FakeClient();
  let nowMs = 1_000_000;
  fake.now = () => {
    nowMs += 1000;
    return new Date(nowMs);
  };
  for (let at = 0; at < count; at += 1) fake.arrive(`s${at}`, [{ role: "user", content: `hello ${at}` }]);
  return fake;
}

interface Shown {
  current?: SessionsView;
}

function List({ view, limit }: { view: Shown; limit: number | undefined }): ReactNode {
  view.current = useSessions(limit === undefined ? {} : { limit });
  return `${view.current.loading ? "loading" : "ready"} ${view.current.entries.map((entry) => entry.id).join(" ")}`;
}

function show(fake: FakeClient, limit?: number) {
  const view: Shown = {};
  const tree = (
    <HoldfastProvider client={asClient(fake)}>
      <List view={view} limit={limit} />
    </HoldfastProvider>
  );
  return { view, tree };
}

test("the catalog is live: newest first, and a change moves a session to the top", async () => {
  const fake = clientWith(3);
  const { view, tree } = show(fake);
  const page = await mount(tree);
  expect(page.text).toBe("ready s2 s1 s0");
  await page.settle(() => fake.arrive("s0", [{ role: "assistant", content: "again" }]));
  expect(page.text).toBe("ready s0 s2 s1");
  expect(view.current?.entries[0]?.unread).toBe(1);
  await page.settle(() => view.current?.actions.markRead("s0", 2));
  expect(view.current?.entries[0]?.unread).toBe(0);
  await page.settle(() => view.current?.actions.rename("s1", "named"));
  expect(view.current?.entries.find((entry) => entry.id === "s1")?.title).toBe("named");
  await page.settle(() => view.current?.actions.delete("s2"));
  expect(page.text).toBe("ready s0 s1");
  await page.unmount();
  expect(fake.catalogListeners.count).toBe(0);
});

test("loadMore shows one step more, and what is shown stays shown when something changes", async () => {
  const fake = clientWith(7);
  const { view, tree } = show(fake, 3);
  const page = await mount(tree);
  expect(page.text).toBe("ready s6 s5 s4");
  expect(view.current?.hasMore).toBe(true);
  await page.settle(() => view.current?.loadMore());
  expect(page.text).toBe("ready s6 s5 s4 s3 s2 s1");
  await page.settle(() => fake.arrive("s0", [{ role: "user", content: "up" }]));
  expect(page.text).toBe("ready s0 s6 s5 s4 s3 s2");
  await page.settle(() => view.current?.loadMore());
  expect(page.text).toBe("ready s0 s6 s5 s4 s3 s2 s1");
  expect(view.current?.hasMore).toBe(false);
  await page.settle(() => view.current?.loadMore());
  expect(view.current?.entries).toHaveLength(7);
  await page.unmount();
});

test("a catalog that cannot be read says why, keeps what it had, and heals", async () => {
  const fake = clientWith(1);
  const { view, tree } = show(fake);
  const page = await mount(tree);
  const failure = new Error("disk");
  fake.pause = () => Promise.reject(failure);
  await page.settle(() => fake.catalogListeners.tell());
  expect(view.current?.error).toBe(failure);
  expect(page.text).toBe("ready s0");
  fake.pause = () => Promise.resolve();
  await page.settle(() => fake.catalogListeners.tell());
  expect(view.current?.error).toBeUndefined();
  await page.unmount();
});

test("what is returned is the same object until something changes", async () => {
  const fake = clientWith(2);
  const { view, tree } = show(fake);
  const page = await mount(tree);
  const before = view.current;
  await page.render(tree);
  expect(view.current).toBe(before);
  await page.unmount();
});

test("an entry that has not changed is the same object as before", async () => {
  const fake = clientWith(3);
  const { view, tree } = show(fake);
  const page = await mount(tree);
  const before = view.current?.entries ?? [];
  await page.settle(() => fake.arrive("s0", [{ role: "user", content: "changed" }]));
  const now = view.current?.entries ?? [];
  expect(now.map(({ id }) => id)).toEqual(["s0", "s2", "s1"]);
  expect(now[1]).toBe(before[0]);
  expect(now[2]).toBe(before[1]);
  expect(now[0]).not.toBe(before[2]);
  await page.unmount();
});

test("no page is asked for with more than 200 entries, and a session that moves between two pages shows once", async () => {
  const fake = clientWith(450);
  const limits: number[] = [];
  const { list } = fake.sessions;
  const catalog = {
    ...fake.sessions,
    list: async (page: { limit?: number; before?: string } = {}) => {
      limits.push(page.limit ?? 0);
      const answer = await list(page);
      // Between the first page and the second, everything moves down by one.
      if (limits.length === 1) fake.arrive("fresh", [{ role: "user", content: "hi" }]);
      return answer;
    },
  };
  const view = new CatalogView(catalog, 430);
  const ready = new Promise<void>((resolve) => view.live.subscribe(resolve));
  await ready;
  const ids = view.live.current().value?.entries.map((entry) => entry.id) ?? [];
  expect(Math.max(...limits)).toBeLessThanOrEqual(200);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length).toBeGreaterThanOrEqual(428);
});
