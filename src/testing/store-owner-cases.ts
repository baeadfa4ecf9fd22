import type { SessionStore } from "../store/contract.ts";
import { claim, claimEqual, claimRefused } from "./claims.ts";
import { START, StoredSession, type StoreRule, said } from "./store-under-test.ts";

/** Whose a session is (T3). */
export function ownerCases(actorId: string | undefined): readonly StoreRule[] {
  return actorId === undefined ? claimedByActors : ownedBy(actorId);
}

/** The same session, as another actor or none would ask for it. */
function as(session: StoredSession, actorId: string | undefined): StoredSession {
  return Object.assign(new StoredSession(session.store, actorId), { id: session.id });
}

/** Every call by somebody else is refused in the same words and changes nothing. */
async function claimClosed(
  session: StoredSession,
  strangers: readonly (string | undefined)[],
): Promise<void> {
  await session.unchangedBy(async () => {
    for (const stranger of strangers) {
      const other = as(session, stranger);
      for (const call of [
        () => other.load(),
        () => other.append(START, { messages: [said("stranger")] }),
        () => other.append({ generation: 9, count: 9 }, { messages: [said("stranger")] }),
        () => other.replace({ messages: [said("stranger")] }),
      ]) {
        const error = await claimRefused(call, "actor-mismatch", `a call by ${stranger ?? "nobody"}`);
        claimEqual(error.message, "Session actor does not match", "the message");
      }
    }
  });
}

const rule = (name: string, run: (store: SessionStore) => Promise<void>): StoreRule => ({ name, run });

const claimedByActors: readonly StoreRule[] = [
  rule("[T3] the actor that writes a session first owns it; another, or none, is refused", async (store) => {
    const appended = new StoredSession(store, "actor-a");
    await appended.append(START, { messages: [said("mine")] });
    await claimClosed(appended, ["actor-b", undefined]);
    const replaced = new StoredSession(store, "actor-a");
    await replaced.replace({ messages: [said("mine")] });
    await claimClosed(replaced, ["actor-b", undefined]);
  }),
  rule("[T3] the actor that loads an id first owns it, though there is no session yet", async (store) => {
    const session = new StoredSession(store, "actor-a");
    claim((await session.load()) === undefined, "there is no session yet");
    await claimClosed(session, ["actor-b", undefined]);
    const { revision } = await session.append(START, { messages: [said("mine")] });
    claimEqual({ ...revision }, { generation: 0, count: 1 }, "the revision");
  }),
  rule("[T3] of two actors that claim an id at once exactly one wins", async (store) => {
    for (const call of [
      (session: StoredSession) => session.load(),
      (session: StoredSession) => session.append(START, { messages: [said("mine")] }),
    ]) {
      const session = new StoredSession(store, "actor-a");
      const results = await Promise.allSettled([call(session), call(as(session, "actor-b"))]);
      const won = results.filter(({ status }) => status === "fulfilled").length;
      claim(won === 1, `exactly one must win, not ${won}`);
      const winner = results[0].status === "fulfilled" ? "actor-a" : "actor-b";
      const loser = winner === "actor-a" ? "actor-b" : "actor-a";
      await as(session, winner).load();
      await claimRefused(() => as(session, loser).load(), "actor-mismatch", "the loser");
    }
  }),
  rule("[T3] a session written without an actor is refused to every actor", async (store) => {
    const session = new StoredSession(store, undefined);
    claim((await session.load()) === undefined, "there is no session yet");
    await session.append(START, { messages: [said("nobody's")] });
    await claimClosed(session, ["actor-a"]);
    await session.append({ generation: 0, count: 1 }, { messages: [said("more")] });
  }),
];

function ownedBy(actorId: string): readonly StoreRule[] {
  return [
    rule("[T3] the sessions of the store's actor are refused to another", async (store) => {
      const session = new StoredSession(store, actorId);
      const stranger = `${actorId}-other`;
      const before = new StoredSession(store, stranger);
      await claimRefused(() => before.load(), "actor-mismatch", "a load of what does not exist");
      await session.append(START, { messages: [said("mine")] });
      await claimClosed(session, [stranger]);
    }),
  ];
}
