import { describe, expect, test } from "vitest";
import { textOf } from "../../src/model/message.ts";
import { begin, say } from "../client/setting.ts";

describe("the live end of a conversation", () => {
  test("[H11] it begins with the last 50, grows by loadEarlier and by what is added, and ends at the beginning", async () => {
    const { world, a } = await begin(1);
    for (let at = 0; at < 130; at += 10)
      await world.during(
        a.session.append({ messages: Array.from({ length: 10 }, (_, n) => say(`${at + n}`)) }),
      );
    await world.during(a.client.flush());
    const session = a.client.session("talk");
    expect(session.messages.entries).toEqual([]);
    await world.clock.advance(100);
    const texts = () => session.messages.entries.map(({ message }) => textOf(message));
    const span = () => [texts()[0], texts().at(-1), texts().length];
    expect(span()).toEqual(["80", "129", 50]);
    expect(session.messages.hasEarlier).toBe(true);
    await world.during(session.messages.loadEarlier(7));
    expect(span()).toEqual(["73", "129", 57]);
    await world.during(session.append({ messages: [say("new")] }));
    expect(span()).toEqual(["73", "new", 58]);
    await world.during(session.messages.loadEarlier());
    expect(span()).toEqual(["23", "new", 108]);
    await world.during(session.messages.loadEarlier(1_000));
    expect(span()).toEqual(["0", "new", 131]);
    expect(session.messages.hasEarlier).toBe(false);
    await world.during(session.messages.loadEarlier());
    expect(span()).toEqual(["0", "new", 131]);
    await world.during(world.close());
  });

  test("[C22] entries that did not change are the same objects, and nobody is told of nothing", async () => {
    const { world, a } = await begin(1);
    await world.during(a.session.append({ messages: [say("1"), say("2")] }));
    await world.during(a.client.flush());
    let told = 0;
    const { messages } = a.client.session("talk");
    messages.subscribe(() => (told += 1));
    await world.clock.advance(100);
    expect(told).toBe(1);
    const before = messages.entries;
    expect(Object.isFrozen(before)).toBe(true);
    await world.during(a.session.updateState((draft) => Object.assign(draft, { n: 1 })));
    await world.during(a.client.sessions.rename("talk", "T"));
    await world.during(a.client.flush());
    expect(told).toBe(1);
    expect(messages.entries).toBe(before);
    await world.during(a.session.append({ messages: [say("3")] }));
    await world.during(a.client.flush());
    expect(messages.entries.slice(0, 2)).toEqual(before);
    expect(messages.entries[0]).toBe(before[0]);
    expect(messages.entries[1]).toBe(before[1]);
    await world.during(world.close());
  });

  test("[H10, C27] rejected messages stand last until somebody retries or discards them", async () => {
    const { world, a, b } = await begin(2);
    await world.during(a.session.append({ messages: [say("1")] }));
    await world.settle();
    a.session.messages.subscribe(() => {});
    a.cable.cut();
    await world.during(a.session.append({ messages: [say("mine")] }, { onConflict: "reject" }));
    await world.during(b.session.append({ messages: [say("theirs")] }, { until: "confirmed" }));
    await world.settle();
    const seen = () =>
      a.session.messages.entries.map(({ message, delivery }) => `${textOf(message)} ${delivery}`);
    expect(seen()).toEqual(["1 confirmed", "theirs confirmed", "mine rejected"]);
    await world.during(a.session.append({ messages: [say("later")] }));
    await world.settle();
    expect(seen()).toEqual(["1 confirmed", "theirs confirmed", "later confirmed", "mine rejected"]);
    await a.client.rejected.discard((await a.client.rejected.list())[0]?.opId ?? "");
    await world.clock.advance(100);
    expect(seen()).toEqual(["1 confirmed", "theirs confirmed", "later confirmed"]);
    await world.during(world.close());
  });

  test("[C60] switching between sessions under a slow relay: no message of one shows in the other", async () => {
    const { world, a, b } = await begin(2);
    for (const id of ["A", "B"]) {
      const session = b.client.session(id);
      const messages = Array.from({ length: 20 }, (_, n) => say(`${id}${n}`));
      await world.during(session.append({ messages }, { until: "confirmed" }));
    }
    a.cable.delayMs = [100, 900];
    for (const id of ["A", "B", "A", "B"]) {
      const session = a.client.session(id);
      session.messages.subscribe(() => {});
      for (let passed = 0; passed < 3_000; passed += 150) {
        await world.clock.advance(150);
        for (const { message } of session.messages.entries) expect(textOf(message)[0]).toBe(id);
      }
      expect(session.messages.entries).toHaveLength(20);
      await world.during(session.close());
    }
    await world.during(world.close());
  });

  test("[H10] a closed session tells nobody any more", async () => {
    const { world, a } = await begin(1);
    const session = a.client.session("talk");
    let told = 0;
    session.subscribe(() => (told += 1));
    session.messages.subscribe(() => (told += 1));
    await world.during(a.session.append({ messages: [say("1")] }));
    expect(told).toBeGreaterThan(0);
    await world.during(session.close());
    const before = told;
    await world.during(a.session.append({ messages: [say("2")] }));
    await world.during(a.session.updateState((draft) => Object.assign(draft, { n: 1 })));
    await world.clock.advance(1_000);
    expect(told).toBe(before);
    await world.during(world.close());
  });
});
