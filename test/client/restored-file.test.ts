import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { RelayStorage } from "../../server/storage/contract.ts";
import { sqliteStorage } from "../../server/storage/sqlite.ts";
import { begin, say, textsIn } from "./setting.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-restored-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const ENDS = ["", "-wal"];

/** A storage in a file that an operator copies, and puts back at the relay's next start. */
function backedUp(name: string): { storage: RelayStorage; backup: () => void; putBack: () => void } {
  const path = join(folder, `${name}.db`);
  const kept = `${path}.backup`;
  const inner = sqliteStorage({ path, durability: "process" });
  let waits = false;
  const open: RelayStorage["open"] = (host) => {
    if (waits) {
      for (const end of [...ENDS, "-shm"]) rmSync(path + end, { force: true });
      for (const end of ENDS) if (existsSync(kept + end)) copyFileSync(kept + end, path + end);
    }
    waits = false;
    return inner.open(host);
  };
  return {
    storage: new Proxy(inner, {
      get: (_, key) => {
        if (key === "open") return open;
        const value: unknown = Reflect.get(inner, key);
        return typeof value === "function" ? value.bind(inner) : value;
      },
    }),
    backup: () => {
      for (const end of ENDS) if (existsSync(path + end)) copyFileSync(path + end, kept + end);
    },
    putBack: () => {
      waits = true;
    },
  };
}

describe("a copy of the relay's file is put back, three devices", () => {
  for (const [name, writes] of [
    ["stands before what they have read", 0],
    ["has grown to exactly where they had read", 2],
    ["has grown past what they have read", 7],
  ] as const) {
    test(`[P67, P33, H2, C11] the older copy ${name}: what it lost comes back, in order, once, without a session being touched`, async () => {
      const { storage, backup, putBack } = backedUp(`grown-${writes}`);
      const { world } = await begin(3, storage);
      const [a, b, c] = world.devices;
      if (a === undefined || b === undefined || c === undefined) throw new Error("three devices");
      await world.during(a.session.append({ messages: [say("1")] }, { until: "confirmed" }));
      const other = a.client.session("other");
      await world.during(other.append({ messages: [say("o1")] }, { until: "confirmed" }));
      await world.settle();
      backup();
      b.cable.cut();
      for (const text of ["o2", "o3"])
        await world.during(other.append({ messages: [say(text)] }, { until: "confirmed" }));
      const ids = (await world.during(other.history())).map(({ id }) => id);
      // The third device has them, too, from its view of the session.
      const onC = c.client.session("other");
      await world.clock.advance(2_000);
      expect(await world.during(textsIn(onC))).toEqual(["o1", "o2", "o3"]);
      a.cable.cut();
      c.cable.cut();
      await world.clock.advance(1_000);
      putBack();
      await world.during(world.restartRelay());
      b.cable.heal();
      b.page.signal("online");
      await world.clock.advance(2_000);
      const fresh = Array.from({ length: writes }, (_, n) => `b${n}`);
      for (const text of fresh)
        await world.during(b.session.append({ messages: [say(text)] }, { until: "confirmed" }));
      for (const { cable, page } of [a, c]) {
        cable.heal();
        page.signal("online");
      }
      await world.settle();
      const onB = b.client.session("other");
      await world.clock.advance(2_000);
      for (const session of [other, onB, onC])
        expect((await world.during(session.history())).map(({ id }) => id)).toEqual(ids);
      for (const device of [a, b, c]) {
        expect(await world.during(textsIn(device.session))).toEqual(["1", ...fresh]);
        expect(device.client.status).toMatchObject({ pending: 0, rejected: 0 });
      }
      await world.during(world.close());
    });
  }

  test("[P67, H11] a relay that starts again on its own file is no other history: nothing is read anew", async () => {
    const { storage } = backedUp("same");
    const { world, a } = await begin(1, storage);
    for (let n = 0; n < 20; n++) {
      await world.during(a.session.append({ messages: [say(`${n}`)] }, { until: "confirmed" }));
      const asked: number[] = [];
      const stop = a.cable.watch(({ direction, data }) => {
        if (direction === "up" && typeof data === "string" && data.includes('"type":"catalog"'))
          asked.push(JSON.parse(data).cursor);
      });
      await world.during(world.restartRelay());
      // Long enough for the connection to count as a good one: the next wait is a short one again.
      await world.clock.advance(20_000);
      stop();
      expect(asked[0]).toBe(n + 1);
    }
    await world.during(world.close());
  });
});
