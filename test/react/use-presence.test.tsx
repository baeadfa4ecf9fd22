import { usePresence } from "holdfast/react";
import type { ReactNode } from "react";
import { expect, test } from "vitest";
import { Awareness, applyAwarenessUpdate, encodeAwarenessUpdate } from "y-protocols/awareness";
import { Doc } from "yjs";
import type { PresenceView } from "../../src/react/use-presence.ts";
import type { SyncedSession } from "../../src/session/synced-session.ts";
import { mount } from "./light-dom.ts";

/** As much of a session as the hook looks at. */
function sessionOf(awareness: Awareness): SyncedSession {
  return { awareness } as unknown as SyncedSession;
}

function someone(): { here: Awareness; session: SyncedSession; says(state: object | null): void } {
  const [here, there] = [new Awareness(new Doc()), new Awareness(new Doc())];
  here.setLocalState(null);
  const says = (state: object | null): void => {
    there.setLocalState(state);
    applyAwarenessUpdate(here, encodeAwarenessUpdate(there, [there.clientID]), "test");
  };
  return { here, session: sessionOf(here), says };
}

function Present({
  of,
  seen,
  views,
}: {
  of: SyncedSession | undefined;
  seen: string[];
  views: PresenceView[];
}): ReactNode {
  const view = usePresence(of);
  const text = view.others.map(({ state }) => String(state.name)).join(",");
  views.push(view);
  seen.push(text);
  return text;
}

test("others come, change and leave; what this tab says is not among them, and is set and unset", async () => {
  const { here, session, says } = someone();
  const views: PresenceView[] = [];
  const view = (): PresenceView | undefined => views.at(-1);
  const page = await mount(<Present of={session} seen={[]} views={views} />);
  expect(page.text).toBe("");
  await page.settle(() => says({ name: "Ben" }));
  expect(page.text).toBe("Ben");
  await page.settle(() => view()?.set({ name: "Ada" }));
  expect([page.text, here.getLocalState()]).toEqual(["Ben", { name: "Ada" }]);
  await page.settle(() => says({ name: "Benjamin" }));
  expect(page.text).toBe("Benjamin");
  await page.settle(() => view()?.set(undefined));
  expect(here.getLocalState()).toBeNull();
  await page.settle(() => says(null));
  expect(page.text).toBe("");
  expect(() => view()?.set("no object" as never)).toThrow(expect.objectContaining({ path: "state" }));
  await page.unmount();
});

test("[C60] given another session, the same render shows those who are there; given none, nobody", async () => {
  const [one, two] = [someone(), someone()];
  one.says({ name: "Ben" });
  two.says({ name: "Cleo" });
  const seen: string[] = [];
  const tree = (of: SyncedSession | undefined) => <Present of={of} seen={seen} views={[]} />;
  const page = await mount(tree(one.session));
  expect(page.text).toBe("Ben");
  await page.render(tree(two.session));
  expect(page.text).toBe("Cleo");
  await page.render(tree(undefined));
  expect(page.text).toBe("");
  expect(seen.filter((text, at) => text !== seen[at - 1])).toEqual(["Ben", "Cleo", ""]);
  await page.unmount();
});
