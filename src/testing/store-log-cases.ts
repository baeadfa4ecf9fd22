import { ConflictError } from "../model/errors.ts";
import type { Revision } from "../model/snapshot.ts";
import { claim, claimEqual, claimRefused } from "./claims.ts";
import { asJson, claimMessages, START, StoredSession, type StoreRule, said } from "./store-under-test.ts";

/** The log: counts, generations, conflicts (T1, T2), order and ids (M9). */
export function logCases(actorId: string | undefined): readonly StoreRule[] {
  const rule = (name: string, run: (session: StoredSession) => Promise<void>): StoreRule => ({
    name,
    run: (store) => run(new StoredSession(store, actorId)),
  });
  return [
    rule("[S2] a session that nobody wrote is not there", async (session) => {
      claim((await session.load()) === undefined, "load must give undefined");
      claim((await session.load()) === undefined, "load must give undefined, also the second time");
    }),
    rule("[T1] appends add messages in order and count on", async (session) => {
      const [a, b, c] = [said("a"), said("b", "assistant"), said("c")];
      const first = await session.append(START, { messages: [a, b] });
      claimEqual({ ...first.revision }, { generation: 0, count: 2 }, "the revision after the first append");
      const second = await session.append(first.revision, { messages: [c] });
      claimEqual({ ...second.revision }, { generation: 0, count: 3 }, "the revision after the second");
      claimMessages(second, [a, b, c], "the answer to the append");
      claimMessages(await session.load(), [a, b, c], "what is loaded");
    }),
    rule("[T1] an append of no messages sets state and metadata and creates the session", async (session) => {
      await session.append(START, { state: { step: 1 }, metadata: { title: "t" } });
      const expected = { messages: [], state: { step: 1 }, metadata: { title: "t" }, revision: { ...START } };
      claimEqual(await session.seen(), expected, "the session");
    }),
    rule("[T1] of appends at once with one expectation exactly one is accepted", async (session) => {
      await session.append(START, { messages: [said("first")] });
      const at: Revision = { generation: 0, count: 1 };
      const rivals = ["a", "b", "c", "d", "e"].map((text) => ({ text, message: said(text) }));
      const results = await Promise.allSettled(
        rivals.map(({ text, message }) => session.append(at, { messages: [message], state: { text } })),
      );
      const accepted = rivals.filter((_, index) => results[index]?.status === "fulfilled");
      claim(accepted.length === 1, `exactly one must be accepted, not ${accepted.length}`);
      for (const result of results) {
        if (result.status === "rejected") claimConflict(result.reason, at, { generation: 0, count: 2 });
      }
      const stored = await session.load();
      claimEqual(stored?.messages[1]?.id, accepted[0]?.message.id ?? null, "the second message");
      claimEqual(stored?.state, { text: accepted[0]?.text ?? null }, "the state");
    }),
    rule("[T1] a refused append leaves nothing and names both revisions", async (session) => {
      const { revision } = await session.append(START, {
        messages: [said("a"), said("b")],
        state: { kept: true },
      });
      await session.unchangedBy(async () => {
        for (const count of [0, 1, 3]) {
          const late = { messages: [said("late")], state: { late: true }, metadata: { late: true } };
          const call = (): Promise<unknown> => session.append({ ...revision, count }, late);
          claimConflict(
            await claimRefused(call, "conflict", `count ${count}`),
            { ...revision, count },
            revision,
          );
        }
      });
      const nobody = new StoredSession(session.store, actorId);
      const call = (): Promise<unknown> =>
        nobody.append({ generation: 0, count: 1 }, { messages: [said("x")] });
      claimConflict(await claimRefused(call, "conflict", "no session"), { generation: 0, count: 1 }, START);
      claim((await nobody.load()) === undefined, "a refused append must create no session");
    }),
    rule("[T2] a replace raises the generation and sets everything anew", async (session) => {
      const a = said("a");
      await session.append(START, { messages: [a, said("b")], state: { old: 1 }, metadata: { old: 1 } });
      const c = said("c");
      const replaced = await session.replace({ messages: [a, c], state: { new: 1 }, metadata: { new: 1 } });
      claimEqual({ ...replaced.revision }, { generation: 1, count: 2 }, "the revision");
      claimMessages(replaced, [a, c], "the answer to the replace");
      claimEqual(await session.seen(), asJson(replaced), "what is loaded");
      const emptied = await session.replace({}, replaced.revision);
      claimEqual({ ...emptied.revision }, { generation: 2, count: 0 }, "the revision of the emptied log");
      claimMessages(await session.load(), [], "the emptied log");
    }),
    rule("[T2] a stale writer is refused after a replace by an equally long log", async (session) => {
      const { revision } = await session.append(START, { messages: [said("a"), said("b")] });
      const replaced = await session.replace({ messages: [said("c"), said("d")] });
      await session.unchangedBy(async () => {
        const call = (): Promise<unknown> => session.append(revision, { messages: [said("late")] });
        claimConflict(await claimRefused(call, "conflict", "an append"), revision, replaced.revision);
      });
    }),
    rule("[T2] an append that names no generation goes by the count alone", async (session) => {
      await session.append(START, { messages: [said("a")] });
      await session.replace({ messages: [said("b")] });
      const write = { ...session.scope, messages: [said("c")], state: {}, metadata: {} };
      const { revision } = await session.store.append(session.id, { ...write, expectedCount: 1 });
      claimEqual({ ...revision }, { generation: 1, count: 2 }, "the revision");
    }),
    rule(
      "[S6] a replace that names its revision is refused when that moved, and leaves nothing",
      async (session) => {
        const { revision } = await session.append(START, { messages: [said("a")] });
        const moved = await session.append(revision, { messages: [said("b")] });
        await session.unchangedBy(async () => {
          const call = (): Promise<unknown> => session.replace({ messages: [said("c")] }, revision);
          claimConflict(await claimRefused(call, "conflict", "a replace"), revision, moved.revision);
        });
        const replaced = await session.replace({ messages: [said("d")] }, moved.revision);
        claimEqual({ ...replaced.revision }, { generation: 1, count: 1 }, "the revision");
      },
    ),
    rule("[M9] ids that are in the log, or twice in one write, are refused", async (session) => {
      const a = said("a");
      const { revision } = await session.append(START, { messages: [a] });
      await session.unchangedBy(async () => {
        const twice = said("twice");
        const again = { role: "user", content: "other", id: a.id } as const;
        await claimRefused(
          () => session.append(revision, { messages: [again] }),
          "invalid-input",
          "a known id",
        );
        for (const call of [
          () => session.append(revision, { messages: [twice, said("x"), twice] }),
          () => session.replace({ messages: [twice, twice] }),
        ]) {
          await claimRefused(call, "invalid-input", "an id given twice");
        }
      });
    }),
    rule("[H11] a log of many messages, added in pieces of any size, reads back whole", async (session) => {
      let revision = START;
      const all = [];
      for (const size of [1, 99, 1, 98, 2, 250, 1, 30]) {
        const messages = Array.from({ length: size }, (_, at) => said(`${all.length + at}`));
        all.push(...messages);
        ({ revision } = await session.append(revision, { messages }));
      }
      claimMessages(await session.load(), all, "the log");
      await session.replace({ messages: all.slice(0, 170) });
      claimMessages(await session.load(), all.slice(0, 170), "the log after a replace by its beginning");
    }),
    rule("[H8] sessions of other ids are not touched", async (session) => {
      const other = new StoredSession(session.store, actorId);
      await session.append(START, { messages: [said("mine")], state: { mine: 1 } });
      claim((await other.load()) === undefined, "the other session must not exist");
      await other.append(START, { messages: [said("other")] });
      await session.unchangedBy(async () => void (await other.replace({ state: { other: 1 } })));
    }),
  ];
}

function claimConflict(error: unknown, expected: Revision, actual: Revision): void {
  claim(error instanceof ConflictError, `expected a ConflictError, got ${String(error)}`);
  claimEqual(error.message, "Session changed while it was being updated", "the message");
  claimEqual({ ...error.expected }, { ...expected }, "the revision expected");
  claimEqual({ ...error.actual }, { ...actual }, "the actual revision");
}
