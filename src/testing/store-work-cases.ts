import { claim, claimEqual } from "./claims.ts";
import { START, StoredSession, type StoreRule, said } from "./store-under-test.ts";

/** Work that a store runs for its callers: one at a time (S13), in the name of an operation (S15). */
export function workCases(actorId: string | undefined): readonly StoreRule[] {
  const rule = (name: string, run: (session: StoredSession) => Promise<void>): StoreRule => ({
    name,
    run: (store) => run(new StoredSession(store, actorId)),
  });
  return [
    rule("[S13] work on one session runs one at a time, in the order of the calls", async (session) => {
      const trail: string[] = [];
      const step = (name: string): Promise<string> =>
        session.store.synchronize(session.id, session.scope, async () => {
          trail.push(`${name} begins`);
          await session.load();
          trail.push(`${name} ends`);
          return name;
        });
      const results = await Promise.all(["a", "b", "c"].map(step));
      claimEqual(results, ["a", "b", "c"], "the results");
      claimEqual(trail, ["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"], "the order");
    }),
    rule("[S13] a read, a decision and a write in one piece of work lose nothing", async (session) => {
      await session.append(START, { state: { n: 0 } });
      const add = (): Promise<void> =>
        session.store.synchronize(session.id, session.scope, async () => {
          const before = await session.load();
          const n = Number(before?.state.n) + 1;
          await session.append(before?.revision ?? START, { messages: [said("x")], state: { n } });
        });
      await Promise.all(Array.from({ length: 8 }, add));
      claimEqual((await session.load())?.state, { n: 8 }, "the state");
    }),
    rule("[S13] other sessions are not held up", async (session) => {
      const other = new StoredSession(session.store, actorId);
      let release = (): void => undefined;
      const held = session.store.synchronize(session.id, session.scope, () => {
        return new Promise<void>((resolve) => {
          release = resolve;
        });
      });
      const done = await other.store.synchronize(other.id, other.scope, async () => "done");
      claimEqual(done, "done", "the other session's work");
      release();
      await held;
    }),
    rule("[S13] failing work rejects with its own error and lets the next one run", async (session) => {
      const failure = new Error("no");
      const failing = session.store.synchronize(session.id, session.scope, async () => {
        throw failure;
      });
      const next = session.store.synchronize(session.id, session.scope, async () => "next");
      const error = await failing.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      claim(error === failure, "the error must be the work's own");
      claimEqual(await next, "next", "the next work");
    }),
    rule(
      "[S15] work in the name of an operation gives its result, and its error unchanged",
      async (session) => {
        const { store } = session;
        const written = await store.withOperationContext("op-1", () =>
          session.append(START, { messages: [said("a")] }),
        );
        claimEqual({ ...written.revision }, { generation: 0, count: 1 }, "the revision");
        const nested = await store.withOperationContext("outer", () =>
          store.withOperationContext(undefined, () => session.load()),
        );
        claim(nested?.messages.length === 1, "nested work must give its result");
        const failure = new Error("no");
        const error = await store
          .withOperationContext("op-2", async () => {
            throw failure;
          })
          .then(
            () => undefined,
            (reason: unknown) => reason,
          );
        claim(error === failure, "the error must be the work's own");
      },
    ),
  ];
}
