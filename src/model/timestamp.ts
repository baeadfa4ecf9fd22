const SHAPE = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:Z|[+-](\d{2}):(\d{2}))$/;

/**
 * The time that `YYYY-MM-DDTHH:MM:SS[.fraction](Z|±HH:MM)` names, to the millisecond; undefined for any other text and
 * for a day or an hour that does not exist. `Date` alone would read "1" as a year and move 30 February into March.
 */
export function parseTimestamp(text: string): Date | undefined {
  const parts = SHAPE.exec(text);
  if (parts === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, zoneHour = 0, zoneMinute = 0] = parts
    .slice(1)
    .map((part) => Number(part ?? 0));
  const inRange = hour <= 23 && minute <= 59 && second <= 59 && zoneHour <= 23 && zoneMinute <= 59;
  if (!inRange || month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  // Engines need not read more than three digits of a fraction.
  const date = new Date(text.replace(/(\.\d{3})\d+/, "$1"));
  return Number.isNaN(date.getTime()) ? undefined : date;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
