import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SeededRandom, seededRandom } from "../../src/testing/random.ts";
import { DeskTab } from "../support/desk-tab.ts";
import { chromiumEngine } from "../support/engines/chromium-engine.ts";
import { Profile } from "../support/engines.ts";
import { openPageServer, type PageServer } from "../support/page-server.ts";
import { startRelayProcess } from "../support/relay-process.ts";
import { checkLog, openWitness } from "../support/witness.ts";
import { readLog } from "./raw-writer.ts";

// What is promised: a browser process that is killed, and a relay process that is killed. A power cut is the relay's
// promise alone: browsers leave what IndexedDB has committed with the operating system for some seconds.

const rounds = 50;
/** Worlds of their own, each with its browser and relay, that share the rounds: waiting for one, the other goes on. */
const worlds = 2;
const seed = Number(process.env.HOLDFAST_SEED ?? Date.now() % 1_000_000);
const actorId = "ann";
const tabs = 2;

interface Round {
  readonly killBrowserMs: number;
  readonly killRelayMs: number;
}

function planOf(random: SeededRandom): Round[] {
  return Array.from({ length: rounds / worlds }, () => ({
    killBrowserMs: 50 + random.below(900),
    killRelayMs: 50 + random.below(900),
  }));
}

describe(`seed ${seed}`, () => {
  let site: PageServer;
  beforeAll(async () => {
    site = await openPageServer();
  });
  afterAll(() => site?.close());

  const only = (ids: ReadonlySet<string>, session: string): Set<string> =>
    new Set([...ids].filter((id) => id.startsWith(`${session}t`)));

  async function runWorld(world: number): Promise<{ committed: number; acknowledged: number }> {
    const plan = planOf(seededRandom(seed + world));
    const [witness, relay] = await Promise.all([openWitness(), startRelayProcess()]);
    const profile = new Profile(chromiumEngine);
    const place = { site: site.url, url: relay.url, actorId };
    const open = () => Promise.all(Array.from({ length: tabs }, () => DeskTab.open(profile, place)));
    const sessions: string[] = [];
    try {
      let desks = await open();
      for (const [number, { killBrowserMs, killRelayMs }] of plan.entries()) {
        // Two tabs write into one session, which is new each time: its first messages and its creation are under fire too.
        const session = `w${world}r${number}`;
        sessions.push(session);
        await Promise.all(
          desks.map((desk, tab) =>
            desk.startWriting({ session, name: `${session}t${tab}`, witness: witness.url, pauseMs: 5 }),
          ),
        );
        await Promise.all([
          setTimeout(killBrowserMs).then(() => profile.kill()),
          setTimeout(killRelayMs).then(() => relay.kill()),
        ]);
        await relay.restart();
        const acknowledged = only(witness.acknowledged, session);
        const committed = only(witness.committed, session);
        checkLog(`${session} on the relay`, await readLog(relay.url, session), acknowledged, witness);
        desks = await open();
        const [first] = desks;
        if (first === undefined) throw new Error("there is no tab");
        checkLog(`${session} in the browser`, await first.ids(session), committed, witness);
      }
      const [first] = desks;
      await first?.reconnect();
      await first?.flush();
      for (const session of sessions)
        checkLog(
          `${session} on the relay in the end`,
          await readLog(relay.url, session),
          only(witness.committed, session),
          witness,
        );
      expect((await first?.status())?.rejected).toBe(0);
      return { committed: witness.committed.size, acknowledged: witness.acknowledged.size };
    } finally {
      await profile.dispose();
      await relay.dispose();
      await witness.close();
    }
  }

  test("[C5, C9, C25, H1, H2] browser and relay are killed fifty times under load: nothing committed or acknowledged is missing, nothing is doubled", async () => {
    console.log(`seed ${seed}`);
    const began = Date.now();
    const sums = await Promise.all(Array.from({ length: worlds }, (_, world) => runWorld(world)));
    const sum = (of: (one: (typeof sums)[number]) => number): number =>
      sums.reduce((total, one) => total + of(one), 0);
    const [committed, acknowledged] = [sum((one) => one.committed), sum((one) => one.acknowledged)];
    console.log(
      `${rounds} kills of the browser and ${rounds} of the relay in ${Math.round((Date.now() - began) / 1_000)} s: ` +
        `${committed} messages committed, ${acknowledged} of them acknowledged before the kill; none lost, none doubled`,
    );
    expect(acknowledged).toBeGreaterThan(rounds);
    expect(committed).toBeGreaterThanOrEqual(acknowledged);
  }, 900_000);
});
