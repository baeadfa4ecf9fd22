import type { LocalDatabase, Schema } from "../../src/store/database.ts";

export interface Line {
  readonly session: string;
  readonly n: number;
  readonly text: string;
  readonly bytes?: Uint8Array;
  readonly at?: string;
}
export interface Note {
  readonly id: string;
  readonly value: unknown;
}
export interface TestRows {
  lines: Line;
  notes: Note;
}
export const TEST_SCHEMA: Schema<TestRows> = {
  lines: { key: ["session", "n"], indexes: { recent: ["at", "session"] } },
  notes: { key: ["id"] },
};

/** One place that databases can be opened on, as tabs of one browser profile. */
export interface Place {
  open(): Promise<LocalDatabase<TestRows>>;
  /** Resolves once what other tabs were told has had time to arrive. */
  delivered(): Promise<void>;
}

export const line = (session: string, n: number, at?: string): Line => ({
  session,
  n,
  text: `${session}${n}`,
  ...(at === undefined ? {} : { at }),
});
export const fault = (error: unknown): { code: unknown; reason: unknown } => {
  const { code, reason } = error as { code?: unknown; reason?: unknown };
  return { code, reason };
};
export const names = (lines: readonly Line[]): string[] => lines.map(({ text }) => text);

/** A database with a few rows in it, and the place it is on. */
export async function withRows(
  makePlace: () => Promise<Place>,
): Promise<{ readonly place: Place; readonly db: LocalDatabase<TestRows> }> {
  const place = await makePlace();
  const db = await place.open();
  await db.write(["lines", "notes"], async (tx) => {
    for (const n of [10, 9, 0, 1]) await tx.put("lines", line("b", n, `t${n}`));
    await tx.put("lines", line("a", 5, "t5"));
    await tx.put("lines", line("c", 7));
    for (const id of ["x", "", "é", "x2"]) await tx.put("notes", { id, value: id });
  });
  return { place, db };
}
