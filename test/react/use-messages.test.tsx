import { HoldfastProvider, useMessages, useSession } from "holdfast/react";
import type { ReactNode } from "react";
import { expect, test } from "vitest";
import { createMessage, textOf } from "../../src/model/message.ts";
import { messagesView } from "../../src/react/use-messages.ts";
import { asClient, FakeClient } from "../demo/fake-client.ts";
import { mount } from "./light-dom.ts";

function Thread({ id, seen }: { id: string; seen: string[] }): ReactNode {
  const session = useSession(id);
  const { entries, hasEarlier } = useMessages(session);
  const text = `${id}:${hasEarlier ? "…" : ""}${entries.map((entry) => `${textOf(entry.message)}/${entry.delivery}`).join(",")}`;
  seen.push(text);
  return text;
}

function gates() {
  const waiting: (() => void)[] = [];
  return {
    pause: () => new Promise<void>((resolve) => waiting.push(resolve)),
    open: (at: number) => waiting[at]?.(),
    get count() {
      return waiting.length;
    },
  };
}

function clientWithTwo(): FakeClient {
  const fake = new FakeClient();
  fake.arrive("A", [{ role: "user", content: "of-A" }]);
  fake.arrive("B", [{ role: "user", content: "of-B" }]);
  return fake;
}

test("[C60] switching A → B → A under slow loads never shows a message of one in the other", async () => {
  const fake = clientWithTwo();
  const slow = gates();
  fake.pause = slow.pause;
  const seen: string[] = [];
  const tree = (id: string) => (
    <HoldfastProvider client={asClient(fake)}>
      <Thread id={id} seen={seen} />
    </HoldfastProvider>
  );
  const page = await mount(tree("A"));
  await page.render(tree("B"));
  await page.render(tree("A"));
  expect(page.text).toBe("A:");
  // The loads end in the least convenient order: B's while A is shown, then all of A's.
  const order = [...Array(slow.count).keys()].reverse();
  for (const at of order) await page.settle(() => slow.open(at));
  expect(page.text).toBe("A:of-A/confirmed");
  await page.settle(() => fake.arrive("B", [{ role: "user", content: "more-of-B" }]));
  await page.render(tree("B"));
  for (let at = 0; at < slow.count; at += 1) await page.settle(() => slow.open(at));
  expect(page.text).toBe("B:of-B/confirmed,more-of-B/confirmed");
  for (const text of seen) {
    if (text.startsWith("A:")) expect(text).not.toContain("of-B");
    else expect(text).not.toContain("of-A");
  }
  await page.unmount();
});

test("[C23] a message shows at once, and its delivery changes in place", async () => {
  const fake = clientWithTwo();
  fake.setLink("offline");
  const page = await mount(
    <HoldfastProvider client={asClient(fake)}>
      <Thread id="A" seen={[]} />
    </HoldfastProvider>,
  );
  const message = createMessage({ role: "user", content: "new" });
  await page.settle(() => fake.write(fake.conversation("A"), { messages: [message] }));
  expect(page.text).toBe("A:of-A/confirmed,new/pending");
  await page.settle(() => fake.reject("A", message.id, "too large"));
  expect(page.text).toBe("A:of-A/confirmed,new/rejected");
  await page.settle(() => fake.rejected.retry(`op-${message.id}`));
  expect(page.text).toBe("A:of-A/confirmed,new/confirmed");
  await page.unmount();
});

test("earlier messages come in front when asked for", async () => {
  const fake = new FakeClient();
  fake.arrive(
    "A",
    Array.from({ length: 60 }, (_, at) => ({ role: "user" as const, content: `m${at}` })),
  );
  const session = fake.session("A");
  await session.load();
  const view = messagesView(session.messages);
  expect(view.current().entries).toHaveLength(50);
  expect(view.current().hasEarlier).toBe(true);
  await view.current().loadEarlier();
  expect(view.current().entries).toHaveLength(60);
  expect(view.current().hasEarlier).toBe(false);
});

test("the view is one object until something in it changes, however often the source is read", async () => {
  const fake = clientWithTwo();
  const session = fake.session("A");
  await session.load();
  const view = messagesView(session.messages);
  const before = view.current();
  expect(session.messages.entries).not.toBe(session.messages.entries);
  expect(view.current()).toBe(before);
  fake.conversation("A").changes.tell();
  expect(view.current()).toBe(before);
  fake.arrive("A", [{ role: "assistant", content: "answer" }]);
  expect(view.current()).not.toBe(before);
  expect(view.current().entries.map(({ message }) => textOf(message))).toEqual(["of-A", "answer"]);
});

test("a change between rendering and subscribing is not missed", async () => {
  const fake = clientWithTwo();
  const session = fake.session("A");
  await session.load();
  const view = messagesView(session.messages);
  const rendered = view.current();
  fake.arrive("A", [{ role: "user", content: "between" }]);
  let told = 0;
  const stop = view.subscribe(() => {
    told += 1;
  });
  // Nobody was told; React reads again after subscribing, and must see that something is new.
  expect(told).toBe(0);
  expect(view.current()).not.toBe(rendered);
  expect(view.current().entries).toHaveLength(2);
  stop();
});

function Nothing(): ReactNode {
  const { entries, hasEarlier } = useMessages(undefined);
  return `${entries.length} ${hasEarlier}`;
}

test("without a session there are no messages", async () => {
  const page = await mount(<Nothing />);
  expect(page.text).toBe("0 false");
  await page.unmount();
});
