import { describe, expect, test } from "vitest";
import { ConnectionError, ProtocolError, RejectedError } from "../../src/model/errors.ts";
import { type Question, Requests } from "../../src/sync/requests.ts";
import type { ClientFrame } from "../../src/wire/client-frames.ts";
import type { GenerationPage } from "../../src/wire/log.ts";
import { LIMITS, type Stage, stage, type Visit, welcoming } from "./link-relay.ts";

const reading: Question<"read-generation"> = {
  type: "read-generation",
  session: "s",
  incarnation: "i",
  generation: 2,
  from: 3,
};

function idOf(frame: ClientFrame | undefined): string {
  if (frame === undefined || !("id" in frame) || typeof frame.id !== "string")
    throw new Error("not a request");
  return frame.id;
}

async function online(): Promise<Stage & { requests: Requests; asked: ClientFrame[]; visit: Visit }> {
  const on = stage();
  const asked: ClientFrame[] = [];
  on.answer = (frame, visit) => {
    welcoming(frame, visit);
    if (frame.type !== "hello" && frame.type !== "ping") asked.push(frame);
  };
  const requests = new Requests(on.link);
  on.link.start();
  await on.clock.advance(0);
  const visit = on.visits[0];
  if (visit === undefined) throw new Error("nobody came");
  return { ...on, requests, asked, visit };
}

const page = (id: string, start: number): GenerationPage => ({
  type: "generation-page",
  id,
  generation: 2,
  start,
  messages: [],
  more: false,
});

describe("requests", () => {
  test("[P30] each answer goes to who asked, in whatever order they come", async () => {
    const { requests, asked, visit, clock } = await online();
    const first = requests.ask(reading);
    const second = requests.ask({ type: "list-generations", session: "s", incarnation: "i" });
    await clock.advance(0);
    expect(asked).toMatchObject([
      { type: "read-generation", from: 3 },
      { type: "list-generations", session: "s" },
    ]);
    visit.say({ type: "generations", id: idOf(asked[1]), generations: [{ generation: 0, count: 1 }] });
    visit.say(page(idOf(asked[0]), 9));
    await clock.advance(0);
    expect((await first).start).toBe(9);
    expect((await second).generations).toHaveLength(1);
    expect(requests.waiting).toBe(0);
  });

  test("[P34] not-answered rejects with the code as the reason", async () => {
    const { requests, asked, visit, clock, link } = await online();
    const asking = requests.ask({ type: "list-generations", session: "s", incarnation: "i" });
    const rejected = expect(asking).rejects.toMatchObject({
      reason: "unknown-session",
      message: "No such session",
    });
    await clock.advance(0);
    visit.say({
      type: "not-answered",
      id: idOf(asked[0]),
      code: "unknown-session",
      message: "No such session",
    });
    await clock.advance(0);
    await rejected;
    await expect(asking).rejects.toBeInstanceOf(RejectedError);
    expect(link.status.link).toBe("online");
  });

  test("[C16] a lost connection rejects what waits as retryable, and a late answer reaches nobody", async () => {
    const { requests, asked, visit, clock, cable, link } = await online();
    const asking = requests.ask(reading);
    const lost = expect(asking).rejects.toMatchObject({ code: "connection", retryable: true });
    await clock.advance(0);
    cable.drop();
    visit.say(page(idOf(asked[0]), 9));
    await clock.advance(0);
    await lost;
    expect(requests.waiting).toBe(0);
    await clock.until(() => link.status.link === "online");
    const again = requests.ask(reading);
    await clock.advance(0);
    expect(idOf(asked[1])).not.toBe(idOf(asked[0]));
    requests.close();
    await expect(again).rejects.toMatchObject({ retryable: false });
  });

  test("[C16] without a connection a request is refused at once", async () => {
    const on = stage();
    const requests = new Requests(on.link);
    await expect(requests.ask(reading)).rejects.toBeInstanceOf(ConnectionError);
  });

  test("[C28] when the relay refuses for good or the link is closed, what waits is not retryable", async () => {
    for (const end of ["refused", "closed"] as const) {
      const { requests, visit, clock, link } = await online();
      const rejected = expect(requests.ask(reading)).rejects.toMatchObject({ retryable: false });
      await clock.advance(0);
      if (end === "closed") link.close();
      else visit.socket.close(4403);
      await clock.advance(0);
      await rejected;
      expect(link.status.link).toBe(end);
    }
  });

  test("[P8] an answer of another kind than was asked for is a relay that cannot be understood", async () => {
    const { requests, asked, visit, clock, link, env } = await online();
    const wrong = expect(requests.ask(reading)).rejects.toBeInstanceOf(ProtocolError);
    await clock.advance(0);
    visit.say({ type: "generations", id: idOf(asked[0]), generations: [] });
    await clock.advance(0);
    await wrong;
    expect(link.status.lastError).toBeInstanceOf(ProtocolError);
    await clock.until(() => link.status.link === "online");
    expect(env.reporter.reports.some(({ event }) => event === "link.broken")).toBe(true);
  });

  test("[P34] an answer that nobody here waits for is left to others", async () => {
    const { requests, visit, clock, link } = await online();
    visit.say({ type: "not-answered", id: "somebody's", code: "deleted", message: "Gone" });
    await clock.advance(0);
    expect([link.status.link, requests.waiting]).toEqual(["online", 0]);
  });

  test("[P10] a request too large to be sent is refused here", async () => {
    const { requests, link } = await online();
    const session = "s".repeat(LIMITS.maxOpBytes);
    await expect(requests.ask({ type: "list-generations", session, incarnation: "i" })).rejects.toMatchObject(
      {
        reason: "too-large",
      },
    );
    expect(link.status.link).toBe("online");
  });
});
