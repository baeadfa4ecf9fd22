import { HoldfastProvider, useSession, useSessionState, useSyncStatus } from "holdfast/react";
import { createElement, type ReactNode, StrictMode } from "react";
import { renderToString } from "react-dom/server";
import { expect, test } from "vitest";
import { SessionLeases } from "../../src/react/session-leases.ts";
import { asClient, FakeClient } from "../demo/fake-client.ts";
import { asSession } from "../demo/fake-session.ts";
import { mount } from "./light-dom.ts";

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function Names({ ids }: { ids: readonly string[] }): ReactNode {
  return ids.map((id, at) => createElement(Name, { key: at, id }));
}
function Status({ seen }: { seen: string[] }): ReactNode {
  const { link, pending } = useSyncStatus();
  seen.push(link);
  return `${link} ${pending}`;
}
function State({ id, seen }: { id: string; seen: string[] }): ReactNode {
  const { state, loading } = useSessionState(useSession(id));
  const text = `${id} ${loading ? "loading" : JSON.stringify(state)}`;
  seen.push(text);
  return text;
}
function Name({ id }: { id: string }): ReactNode {
  return useSession(id).id;
}

test("components that show one session share one handle, closed when the last has gone", async () => {
  const fake = new FakeClient();
  const tree = (ids: readonly string[]) => (
    <HoldfastProvider client={asClient(fake)}>
      <Names ids={ids} />
    </HoldfastProvider>
  );
  const page = await mount(tree(["A", "A", "B"]));
  expect(page.text).toBe("AAB");
  expect(fake.handles.map(({ id }) => id).sort()).toEqual(["A", "B"]);
  await page.render(tree(["A"]));
  await page.settle();
  expect(fake.handles.filter(({ closed }) => closed).map(({ id }) => id)).toEqual(["B"]);
  await page.render(tree(["B"]));
  await page.settle();
  expect(page.text).toBe("B");
  expect(fake.handles.filter(({ closed }) => !closed).map(({ id }) => id)).toEqual(["B"]);
  await page.unmount();
  await settled();
  expect(fake.handles.every(({ closed }) => closed)).toBe(true);
});

test("a handle let go and taken up in one turn stays open; one closed before is not given out again", async () => {
  const fake = new FakeClient();
  const leases = new SessionLeases((id) => asSession(fake.session(id)));
  const first = leases.session("A");
  const release = leases.hold("A");
  release();
  const again = leases.hold("A");
  await settled();
  expect(leases.session("A")).toBe(first);
  again();
  again();
  await settled();
  expect(fake.handles[0]?.closed).toBe(true);
  expect(leases.session("A")).not.toBe(first);
});

test("[H12] the status is the client's own, and a component renders again only when it changes", async () => {
  const fake = new FakeClient();
  const seen: string[] = [];
  const page = await mount(
    <HoldfastProvider client={asClient(fake)}>
      <Status seen={seen} />
    </HoldfastProvider>,
  );
  expect(page.text).toBe("online 0");
  const before = seen.length;
  await page.settle(() => fake.statusListeners.tell());
  expect(seen).toHaveLength(before);
  await page.settle(() => {
    fake.setLink("offline");
    fake.write(fake.conversation("A"), { messages: [{ role: "user", content: "x" }] });
  });
  expect(page.text).toBe("offline 1");
  await page.unmount();
  expect(fake.statusListeners.count).toBe(0);
});

test("[C60] the state of one session never shows in another, and is live", async () => {
  const fake = new FakeClient();
  fake.conversation("A").state = { of: "A" };
  fake.conversation("B").state = { of: "B" };
  const seen: string[] = [];
  const tree = (id: string) => (
    <HoldfastProvider client={asClient(fake)}>
      <State id={id} seen={seen} />
    </HoldfastProvider>
  );
  const page = await mount(tree("A"));
  await page.render(tree("B"));
  await page.render(tree("A"));
  await page.settle();
  expect(page.text).toBe('A {"of":"A"}');
  expect(seen.filter((text) => text.startsWith("A") && text.includes('"B"'))).toEqual([]);
  expect(seen.filter((text) => text.startsWith("B") && text.includes('"A"'))).toEqual([]);
  await page.settle(() =>
    fake.handles.at(-1)?.updateState((draft) => {
      draft.more = 1;
    }),
  );
  expect(page.text).toBe('A {"of":"A","more":1}');
  await page.unmount();
});

test("hooks render on a server as well, and say where they miss their provider", () => {
  const fake = new FakeClient();
  const page = (
    <StrictMode>
      <HoldfastProvider client={asClient(fake)}>
        <Name id="A" />
      </HoldfastProvider>
    </StrictMode>
  );
  expect(renderToString(page)).toBe("A");
  expect(() => renderToString(<Name id="A" />)).toThrow(/HoldfastProvider/);
});
