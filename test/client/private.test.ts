import { expect, test } from "vitest";
import type { MessageInput } from "../../src/model/message.ts";
import { begin, rowsOf, textsIn } from "./setting.ts";

const SECRETS = ["SYSTEM-SECRET", "TRANSIENT-SECRET", "REASONING-SECRET", "NESTED-SECRET", "ARTIFACT-SECRET"];

/** Every kind of content that must not leave the caller's memory, beside some that must arrive. */
function history(n: number): MessageInput[] {
  return [
    { role: "system", content: `SYSTEM-SECRET ${n}` },
    { role: "user", content: `TRANSIENT-SECRET ${n}`, metadata: { transient: true } },
    { role: "user", content: `question ${n}` },
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "REASONING-SECRET", signature: "REASONING-SECRET" },
        { type: "reasoning", redacted: new TextEncoder().encode("REASONING-SECRET") },
        { type: "tool_use", id: `call-${n}`, name: "look", input: { at: n } },
      ],
    },
    {
      role: "tool",
      content: [
        {
          type: "tool_result",
          toolUseId: `call-${n}`,
          status: "success",
          content: [
            { type: "reasoning", text: "NESTED-SECRET" },
            { type: "text", text: `answer ${n}` },
          ],
        },
      ],
    },
    { role: "assistant", content: [{ type: "reasoning", details: [{ text: "REASONING-SECRET" }] }] },
    {
      role: "assistant",
      content: `see file:ARTIFACT-SECRET-${n}`,
      metadata: { holdfastArtifacts: [{ reference: `file:ARTIFACT-SECRET-${n}` }] },
    },
  ];
}

test("[H7, S9, S10, C56] no write of any kind brings private content to the disk, the wire, the relay or an export", async () => {
  const { world, a, b } = await begin(2);
  const sent: string[] = [];
  const bytes: string[] = [];
  for (const { cable } of [a, b])
    cable.watch(({ data }) => {
      if (typeof data === "string") sent.push(data);
      else bytes.push(new TextDecoder("latin1").decode(data));
    });
  let n = 0;
  const writes = [
    () => a.session.append({ messages: history(++n), state: { n } }),
    () => a.session.append({ messages: history(++n) }, { onConflict: "reject", until: "confirmed" }),
    async () => a.session.checkpoint({ messages: [...(await a.session.history()), ...history(++n)] }),
    () => a.session.checkpoint({ messages: history(++n) }),
    () => a.session.checkpointResult({ messages: history(++n), state: { n } }),
    () => a.session.replace({ messages: history(++n) }),
  ];
  for (const write of writes) {
    await world.during(write());
    await world.clock.advance(500);
  }
  a.cable.cut();
  await world.during(a.session.append({ messages: history(++n) }, { onConflict: "reject" }));
  await world.during(b.session.append({ messages: history(++n) }, { until: "confirmed" }));
  await world.settle();
  expect(a.client.status.rejected).toBe(1);
  const places: Record<string, string> = {
    "a's disk": JSON.stringify(await rowsOf(a.database)),
    "b's disk": JSON.stringify(await rowsOf(b.database)),
    "the wire": sent.join("\n"),
    "binary frames": bytes.join("\n"),
    "the relay": JSON.stringify(await world.generations()),
    "an export": await (await world.during(a.client.export())).text(),
    "the view": JSON.stringify(await world.during(a.session.history())),
    "the list": JSON.stringify(await a.client.sessions.list()),
    "the rejected": JSON.stringify(await a.client.rejected.list()),
  };
  for (const [place, held] of Object.entries(places)) {
    expect(held.length, place).toBeGreaterThan(10);
    for (const secret of SECRETS) {
      expect(held, `${secret} in ${place}`).not.toContain(secret);
      expect(held, `${secret} in ${place}`).not.toContain(btoa(secret));
    }
  }
  expect((await textsIn(a.session)).join("\n")).toContain(`question ${n}`);
  await world.during(world.close());
});
