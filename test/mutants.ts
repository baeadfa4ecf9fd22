/** A fault put into the code on purpose, and the tests that must find it. */
export interface Mutant {
  readonly what: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly project: "node" | "e2e";
  readonly tests: readonly string[];
}

const SIMULATION = ["test/sim/converge"];

/** Those that the simulation must find too, within the worlds that the suite runs. */
const inWorlds: readonly Omit<Mutant, "project" | "tests">[] = [
  {
    what: "the head of an append is not checked",
    file: "server/storage/decide-log.ts",
    from: "if (!headEquals(base, head)) return conflict(base, session, facts);",
    to: "",
  },
  {
    what: "the count is checked, and the last message id is not",
    file: "src/model/revision.ts",
    from: "return revisionEquals(a, b) && a.lastId === b.lastId;",
    to: "return revisionEquals(a, b);",
  },
  {
    what: "the relay forgets the generation",
    file: "server/storage/decide-log.ts",
    from: "if (!headEquals(base, head)) return conflict(base, session, facts);",
    to: "if (base.count !== head.count || base.lastId !== head.lastId) return conflict(base, session, facts);",
  },
  {
    what: "the relay acknowledges before the commit",
    file: "server/storage/memory.ts",
    from: "    perform(commit, write, { session, atMs: host.now() });\n",
    to: "    setImmediate(() => {\n      if (this.#host === host) perform(commit, write, { session, atMs: host.now() });\n    });\n",
  },
];

/** Each must be found by a test that has a name. `npm run mutants` shows it. */
export const mutants: readonly Mutant[] = [
  ...inWorlds.map((mutant) => ({ ...mutant, project: "node" as const, tests: SIMULATION })),
  {
    what: "the relay does not check the head of an append",
    file: "server/storage/decide-log.ts",
    from: "if (!headEquals(base, head)) return conflict(base, session, facts);",
    to: "",
    project: "node",
    tests: ["test/server/storage"],
  },
  {
    what: "the relay does not check the base of a replace",
    file: "server/storage/decide-log.ts",
    from: "if (!headEquals(base, session.head)) return conflict(base, session, facts);",
    to: "",
    project: "node",
    tests: ["test/server/storage"],
  },
  {
    what: "the count is checked, and the last message id is not",
    file: "src/model/revision.ts",
    from: "return revisionEquals(a, b) && a.lastId === b.lastId;",
    to: "return revisionEquals(a, b);",
    project: "node",
    tests: ["test/server/storage"],
  },
  {
    what: "the generation is forgotten",
    file: "src/model/revision.ts",
    from: "return a.generation === b.generation && a.count === b.count;",
    to: "return a.count === b.count;",
    project: "node",
    tests: ["test/server/storage", "test/model"],
  },
  {
    what: "the relay does not remember ops",
    file: "server/storage/decide.ts",
    from: "if (known !== undefined) return decideKnown(write, known);",
    to: "",
    project: "node",
    tests: ["test/server/storage"],
  },
  {
    what: "the relay acknowledges before the commit: of fifty transactions one is committed",
    file: "server/storage/sqlite.ts",
    from: 'file.database.exec("BEGIN IMMEDIATE");\n    try {\n      const result = work();\n      heads.write();\n      file.database.exec("COMMIT");',
    to: 'const g = globalThis as any;\n    g.acked = (g.acked ?? 0) + 1;\n    if (g.acked % 50 === 1) file.database.exec("BEGIN IMMEDIATE");\n    try {\n      const result = work();\n      heads.write();\n      if (g.acked % 50 === 0) file.database.exec("COMMIT");',
    project: "e2e",
    tests: ["test/e2e/relay-kill"],
  },
  {
    what: "the fence lets everybody through",
    file: "src/store/fenced-database.ts",
    from: "if ((await readEpoch(tx)) === epoch) return;",
    to: "if (epoch >= 0) return;",
    project: "node",
    tests: ["test/sync/leader", "test/client/tab-lead", "test/client/ten-tabs"],
  },
  {
    what: "pushes are taken before the catalog is read",
    file: "src/sync/engine.ts",
    from: 'if (frame.type === "push" && this.#phase !== "live") {',
    to: 'if (frame.type === "push" && this.#phase === "offline") {',
    project: "node",
    tests: ["test/client/cursor"],
  },
  {
    what: "a refused op is never judged",
    file: "src/sync/lane.ts",
    from: 'return { do: "judge" };',
    to: 'return { do: "wait" };',
    project: "node",
    tests: ["test/sync/lane", "test/client/refusals"],
  },
  {
    what: "an acknowledged op leaves the outbox, and its messages do not enter the log",
    file: "src/store/confirm.ts",
    from: "return follows ? extendLog(tx, row, rest) : undefined;",
    to: "return follows ? row : undefined;",
    project: "node",
    tests: ["test/store", "test/client/queue"],
  },
  {
    what: "a transaction whose end was not told is done again without a look",
    file: "src/store/commit-mark.ts",
    from: "export async function isMarked(",
    to: "export async function isMarked(..._: unknown[]): Promise<boolean> {\n  return false;\n}\nexport async function isMarkedNoMore(",
    project: "node",
    tests: ["test/store/storage-faults"],
  },
];
