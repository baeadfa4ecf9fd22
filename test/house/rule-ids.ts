// The rules whose tests this repository owes, by id. The protocol's (P…) are read from src/wire/PROTOCOL.md itself.
const count = (letter: string, last: number): string[] =>
  Array.from({ length: last }, (_, index) => `${letter}${index + 1}`);

/** Parity: data, messages, invocation, session, stores. */
export const parityIds: readonly string[] = [
  ...count("D", 4),
  ...count("M", 9),
  ...count("I", 12),
  ...count("S", 16),
  ...count("T", 8),
];

/** What must always hold. */
export const holdIds: readonly string[] = count("H", 12);

/** Cases that broke elsewhere, all of them, and those that have their test by now. */
export const caseIds: readonly string[] = count("C", 63);
export const testedCaseIds: readonly string[] = [
  "C1",
  "C2",
  "C3",
  "C4",
  "C5",
  "C6",
  "C7",
  "C8",
  "C9",
  "C10",
  "C11",
  "C12",
  "C13",
  "C14",
  "C15",
  "C16",
  "C17",
  "C18",
  "C19",
  "C20",
  "C21",
  "C22",
  "C23",
  "C24",
  "C25",
  "C26",
  "C27",
  "C28",
  "C29",
  "C30",
  "C31",
  "C33",
  "C34",
  "C32",
  "C35",
  "C36",
  "C37",
  "C38",
  "C39",
  "C40",
  "C41",
  "C42",
  "C43",
  "C44",
  "C45",
  "C46",
  "C47",
  "C48",
  "C49",
  "C50",
  "C51",
  "C52",
  "C53",
  "C54",
  "C58",
  "C59",
  "C61",
  "C63",
];
