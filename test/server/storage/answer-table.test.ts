import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { present, testHost, WIDE } from "../../../server/storage/conformance-tools.ts";
import type { Answer, RelayStorage, Write } from "../../../server/storage/contract.ts";
import { memoryStorage } from "../../../server/storage/memory.ts";
import { sqliteStorage } from "../../../server/storage/sqlite.ts";
import { comparable, NaiveRelay } from "./naive-model.ts";

/** What a step asks for, before it is known how the session stands. */
interface Step {
  readonly kind: "append" | "replace" | "edit" | "delete" | "state" | "again" | "reuse";
  readonly session: string;
  readonly ids: readonly string[];
  /** Which head it names: how many steps old, or a made-up one. */
  readonly stale: number;
  readonly knows: "life" | "null" | "wrong";
  readonly keep: { readonly generation: number; readonly count: number };
  readonly state: boolean;
  readonly metadata: readonly { at: string; value?: number }[] | undefined;
  readonly archived: boolean | undefined;
  readonly read: { readonly generation: number; readonly count: number } | undefined;
}

const small = fc.nat({ max: 4 });
const id = fc.constantFrom(..."abcdefgh");
const steps = fc.array(
  fc.record<Step>({
    kind: fc.constantFrom(
      "append",
      "append",
      "append",
      "replace",
      "replace",
      "edit",
      "delete",
      "state",
      "again",
      "reuse",
    ),
    session: fc.constantFrom("s", "s", "s", "t"),
    ids: fc.array(id, { maxLength: 3 }),
    stale: fc.constantFrom(0, 0, 0, 0, 1, 2, 3, -1),
    knows: fc.constantFrom("life", "life", "life", "null", "null", "wrong"),
    keep: fc.record({ generation: small, count: small }),
    state: fc.boolean(),
    metadata: fc.option(
      fc.array(
        fc.oneof(
          fc.record({ at: fc.constantFrom("/a", "/b", "/__proto__"), value: small }),
          fc.record({ at: fc.constantFrom("/a", "/b", "/__proto__") }),
        ),
        { maxLength: 2 },
      ),
      { nil: undefined },
    ),
    archived: fc.option(fc.boolean(), { nil: undefined }),
    read: fc.option(fc.record({ generation: small, count: small }), { nil: undefined }),
  }),
  { minLength: 1, maxLength: 40 },
);

const HUGE = { maxStateBytes: 1e6, maxMetadataBytes: 1e6, maxSessionsPerActor: 1e6 };

/** Runs the steps on a storage and on the naive model; every answer and in the end every log must be the same. */
async function runBoth(storage: RelayStorage, script: readonly Step[]): Promise<void> {
  await storage.open(testHost(HUGE));
  const naive = new NaiveRelay();
  const heads = new Map<string, { generation: number; count: number; lastId: string | null }[]>();
  const sent: Write[] = [];
  for (const [number, step] of script.entries()) {
    const { session } = step;
    const past = heads.get(session) ?? [{ generation: 0, count: 0, lastId: null }];
    heads.set(session, past);
    const write = writeOf(step, number, { naive, past, sent });
    sent.push(write);
    const answer: Answer = await storage.apply(write);
    // The naive model names lives by number; which name that is it learns when the first answer tells it.
    const expected = naive.apply(write);
    expect(comparable(answer, naive), `step ${number}: ${JSON.stringify(write)}`).toEqual(expected);
    if (answer.ok && write.kind !== "state") past.unshift(answer.head);
    const log = naive.log(session);
    if (log !== undefined) {
      past.unshift({
        generation: naive.generations(session) - 1,
        count: log.length,
        lastId: log.at(-1) ?? null,
      });
    }
  }
  expect(await storage.position("ann")).toBe(naive.position);
  for (const session of ["s", "t"]) await compareLogs(storage, naive, session);
  await storage.close();
}

function writeOf(
  step: Step,
  number: number,
  {
    naive,
    past,
    sent,
  }: {
    naive: NaiveRelay;
    past: readonly { generation: number; count: number; lastId: string | null }[];
    sent: readonly Write[];
  },
): Write {
  const { session, ids } = step;
  const earlier = sent[step.keep.count];
  if (step.kind === "again" && earlier !== undefined) return earlier;
  const lives = { life: naive.incarnationOf(session), null: null, wrong: "of no life" };
  const fields = {
    actor: "ann",
    session,
    incarnation: lives[step.knows],
    opId: `op-${number}`,
    digest: `d-${number}`,
  };
  if (step.kind === "reuse" && earlier !== undefined && earlier.kind !== "state") {
    return { ...earlier, digest: "other" };
  }
  const base = step.stale < 0 ? { generation: 0, count: 1, lastId: "z" } : (past[step.stale] ?? past[0]);
  const messages = ids.map((name) => ({ id: name, body: `{"id":"${name}"}` }));
  const state = step.state ? Uint8Array.of(number) : undefined;
  const { metadata, archived, read, keep } = step;
  const from = base ?? { generation: 0, count: 0, lastId: null };
  switch (step.kind) {
    case "replace":
      return { kind: "replace", ...fields, base: from, keep, messages, state, metadata };
    case "edit":
      return { kind: "edit", ...fields, metadata, archived, read };
    case "delete":
      return { kind: "delete", ...fields };
    case "state":
      return {
        kind: "state",
        ...fields,
        incarnation: fields.incarnation ?? "none",
        update: Uint8Array.of(number),
      };
    default:
      return { kind: "append", ...fields, base: from, messages, state, metadata };
  }
}

async function compareLogs(storage: RelayStorage, naive: NaiveRelay, session: string): Promise<void> {
  const place = { actor: "ann", session, incarnation: naive.incarnationOf(session) };
  const pulled = await storage.pull(place, { have: null, stateCursor: 0, ...WIDE });
  const log = naive.log(session);
  if (log === undefined) {
    expect(pulled).toHaveProperty("absent");
    return;
  }
  const page = present(pulled);
  expect(page.messages.map((message) => message.id)).toEqual(log);
  expect(page.state.map((update) => update[0])).toEqual(naive.state(session));
  const { entries } = await storage.catalog("ann", { cursor: 0, maxEntries: 9, maxBytes: 1e6 });
  const metadata = entries.find((entry) => entry.session === session)?.metadata ?? {};
  expect(Object.entries(metadata).sort()).toEqual(Object.entries(naive.metadata(session)).sort());
  const life = { ...place, incarnation: place.incarnation ?? "" };
  for (let generation = 0; generation < naive.generations(session); generation += 1) {
    const read = present(await storage.readGeneration(life, { generation, from: 0, ...WIDE }));
    expect(read.messages.map((message) => message.id)).toEqual(naive.generation(session, generation));
  }
  // From wherever a client stands, what it keeps and what it is told make the log.
  for (let generation = 0; generation < naive.generations(session); generation += 1) {
    const held = naive.generation(session, generation) ?? [];
    const have = { generation, count: held.length, lastId: held.at(-1) ?? null };
    const rest = present(await storage.pull(place, { have, stateCursor: 0, ...WIDE }));
    expect([...held.slice(0, rest.start), ...rest.messages.map((message) => message.id)]).toEqual(log);
  }
}

const folder = mkdtempSync(join(tmpdir(), "holdfast-table-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("[P21] the answer table: memory answers any run of writes as the naive model does", async () => {
  await fc.assert(
    fc.asyncProperty(steps, (script) => runBoth(memoryStorage(), script)),
    { numRuns: 2_000 },
  );
});

test("[P21] the answer table: SQLite answers any run of writes as the naive model does", async () => {
  let files = 0;
  await fc.assert(
    fc.asyncProperty(steps, (script) => {
      files += 1;
      return runBoth(sqliteStorage({ path: join(folder, `${files}.db`), durability: "process" }), script);
    }),
    { numRuns: 60 },
  );
});
