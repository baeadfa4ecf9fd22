const SHAPE =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/**
 * Whether text is `YYYY-MM-DDTHH:MM:SS[.fraction](Z|±HH:MM)` of a time that exists. `Date` alone would read "1" as a
 * year and move 30 February into March.
 */
export function isTimestamp(text: string): boolean {
  if (!SHAPE.test(text)) return false;
  const day = Number(text.slice(8, 10));
  return day <= 28 || day <= daysIn(Number(text.slice(0, 4)), Number(text.slice(5, 7)));
}

/** The time that such text names, to the millisecond; undefined for any other text. */
export function parseTimestamp(text: string): Date | undefined {
  if (!isTimestamp(text)) return undefined;
  // Engines need not read more than three digits of a fraction.
  return new Date(text.replace(/(\.\d{3})\d+/, "$1"));
}

function daysIn(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
