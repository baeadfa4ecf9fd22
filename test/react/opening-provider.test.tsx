import { useClient } from "holdfast/react";
import { Component, type ReactNode } from "react";
import { expect, test } from "vitest";
import type { Client } from "../../src/client.ts";
import type { ClientOptions } from "../../src/open-client.ts";
import { ClientLease } from "../../src/react/client-lease.ts";
import { OpeningProvider } from "../../src/react/opening-provider.tsx";
import { asClient, FakeClient } from "../demo/fake-client.ts";
import { mount } from "./light-dom.ts";

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const options: ClientOptions = { url: "ws://relay", actorId: "ada" };

function opener() {
  const opened: { options: ClientOptions; fake: FakeClient }[] = [];
  const open = async (given: ClientOptions): Promise<Client> => {
    const fake = new FakeClient(given.actorId);
    opened.push({ options: given, fake });
    return asClient(fake);
  };
  return { opened, open };
}

class Boundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: undefined };
  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }
  override render(): ReactNode {
    return this.state.error instanceof Error ? `failed: ${this.state.error.message}` : this.props.children;
  }
}

function Who(): ReactNode {
  return useClient().actorId;
}

test("under StrictMode one client is opened, and closed on unmount", async () => {
  const { opened, open } = opener();
  const page = await mount(
    <OpeningProvider options={options} open={open} fallback="opening">
      <Who />
    </OpeningProvider>,
  );
  await page.settle();
  expect(page.text).toBe("ada");
  expect(opened).toHaveLength(1);
  expect(opened[0]?.fake.closed).toBe(false);
  await page.unmount();
  await settled();
  expect(opened).toHaveLength(1);
  expect(opened[0]?.fake.closed).toBe(true);
});

test("the fallback shows until the client is open; unmounted before that, it is closed when it opens", async () => {
  let finish: (client: Client) => void = () => {};
  const fake = new FakeClient();
  const page = await mount(
    <OpeningProvider
      options={options}
      open={() =>
        new Promise((resolve) => {
          finish = resolve;
        })
      }
      fallback="opening"
    >
      <Who />
    </OpeningProvider>,
  );
  expect(page.text).toBe("opening");
  await page.unmount();
  finish(asClient(fake));
  await settled();
  expect(fake.closed).toBe(true);
});

test("a failure to open reaches the error boundary", async () => {
  const said = console.error;
  console.error = () => {};
  try {
    const page = await mount(
      <Boundary>
        <OpeningProvider options={options} open={() => Promise.reject(new Error("no storage"))}>
          <Who />
        </OpeningProvider>
      </Boundary>,
    );
    await page.settle();
    expect(page.text).toBe("failed: no storage");
    await page.unmount();
  } finally {
    console.error = said;
  }
});

test("[C28] the latest token function is the one that is asked", async () => {
  const { opened, open } = opener();
  const tree = (token: string) => (
    <OpeningProvider options={{ ...options, token: () => token }} open={open}>
      <Who />
    </OpeningProvider>
  );
  const page = await mount(tree("first"));
  await page.render(tree("second"));
  const token = opened[0]?.options.token;
  expect(typeof token === "function" ? await token() : token).toBe("second");
  expect(opened).toHaveLength(1);
  await page.unmount();
});

test("a lease that is let go and held again in one turn keeps its client; later it opens a new one", async () => {
  const { opened, open } = opener();
  const lease = new ClientLease(() => open(options));
  await lease.hold();
  const released = lease.release();
  const again = lease.hold();
  await released;
  expect(await again).toBe(opened[0]?.fake);
  expect(opened[0]?.fake.closed).toBe(false);
  await lease.release();
  expect(opened[0]?.fake.closed).toBe(true);
  await lease.hold();
  expect(opened).toHaveLength(2);
});
