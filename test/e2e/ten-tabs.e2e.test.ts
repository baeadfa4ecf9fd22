import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { seededRandom } from "../../src/testing/random.ts";
import { DeskTab } from "../support/desk-tab.ts";
import { enginesHere, Profile } from "../support/engines.ts";
import { openFrameRecorder, overlaps } from "../support/frame-recorder.ts";
import { openPageServer, type PageServer } from "../support/page-server.ts";
import { type RelayProcess, startRelayProcess } from "../support/relay-process.ts";
import { checkLog, openWitness } from "../support/witness.ts";
import { readLog } from "./raw-writer.ts";

const tabCount = 10;
const durationMs = { chromium: 60_000, firefox: 15_000, webkit: 15_000 };
const actorId = "ann";
const seed = Number(process.env.HOLDFAST_SEED ?? Date.now() % 1_000_000);

let relay: RelayProcess;
let site: PageServer;
beforeAll(async () => {
  [relay, site] = await Promise.all([startRelayProcess(), openPageServer()]);
});
afterAll(() => Promise.all([relay?.dispose(), site?.close()]));

describe.each(enginesHere())("in $name", (engine) => {
  test("[C37, H12] ten tabs write while they are killed and reloaded: never two send at once, nothing is missing or doubled, and all say the same in the end", async () => {
    console.log(`seed ${seed}`);
    const random = seededRandom(seed).fork(engine.name);
    const [recorder, witness, profile] = [
      await openFrameRecorder(relay.url),
      await openWitness(),
      new Profile(engine),
    ];
    const sessions = [0, 1, 2].map((n) => `${engine.name} ${n}`);
    let lives = 0;
    const startWriting = (desk: DeskTab, at: number): Promise<void> => {
      lives += 1;
      const session = sessions[at % sessions.length] ?? "";
      return desk.startWriting({ session, name: `life${lives}`, witness: witness.url, pauseMs: 200 });
    };
    const open = async (at: number): Promise<DeskTab> => {
      opened += 1;
      const place = { site: site.url, url: recorder.url, actorId, tab: `tab${opened}` };
      const desk = await DeskTab.open(profile, place);
      await startWriting(desk, at);
      return desk;
    };
    let opened = 0;
    const done = { kill: 0, reload: 0 };
    try {
      const desks: DeskTab[] = [];
      for (let at = 0; at < tabCount; at += 1) desks.push(await open(at));
      const end = Date.now() + durationMs[engine.name];
      while (Date.now() < end) {
        await setTimeout(random.below(600));
        // The one that leads is hit more often than the others.
        const leader = (await Promise.all(desks.map((desk) => desk.status()))).findIndex((one) => one.leader);
        const at = leader >= 0 && random.chance(0.4) ? leader : random.below(tabCount);
        const desk = desks[at];
        if (desk === undefined) throw new Error("there is no such tab");
        if (random.chance(0.5)) {
          done.reload += 1;
          await desk.reload();
          await startWriting(desk, at);
        } else {
          done.kill += 1;
          await desk.tab.kill();
          desks[at] = await open(at);
        }
      }
      await Promise.all(desks.map((desk) => desk.stopWriting()));
      await desks[0]?.flush();
      const settled = Date.now();
      await expect
        .poll(async () => sayTheSame(await Promise.all(desks.map((desk) => desk.status()))), {
          timeout: 1_000,
        })
        .toEqual({ same: true, leaders: 1, pending: 0, rejected: 0, link: "online" });
      const equalAfterMs = Date.now() - settled;

      const logs = await Promise.all(sessions.map((session) => readLog(relay.url, session)));
      checkLog(`${engine.name}'s relay`, logs.flat(), witness.committed, witness);
      const senders = recorder.sockets.filter(({ ops }) => ops.length > 0);
      const epochs = new Set(senders.map(({ epoch }) => epoch));
      const together = overlaps(recorder.sockets);
      console.log(
        `${engine.name}: ${done.kill} kills, ${done.reload} reloads, ${senders.length} connections that sent, ` +
          `in ${epochs.size} epochs; ${together.length} overlaps; ${witness.committed.size} messages; ` +
          `equal after ${equalAfterMs} ms`,
      );
      expect(together.map((pair) => pair.map(({ name, epoch }) => `${name} in ${epoch}`))).toEqual([]);
      expect(senders.length).toBeGreaterThan(1);
    } finally {
      await profile.dispose();
      await recorder.close();
      await witness.close();
    }
  }, 400_000);
});

type Status = Awaited<ReturnType<DeskTab["status"]>>;

/** Whether all tabs say the same, and what. That each knows whether it leads is no difference. */
function sayTheSame(statuses: readonly Status[]) {
  const told = statuses.map(({ leader, ...rest }) => JSON.stringify(rest));
  const { pending, rejected, link } = statuses[0] ?? {};
  const leaders = statuses.filter(({ leader }) => leader).length;
  return { same: new Set(told).size === 1, leaders, pending, rejected, link };
}
