// Times as people read them, in the reader's own language and zone. `now` is given, so that a view is of one moment.

const dayMs = 24 * 60 * 60 * 1000;

/** Making a formatter takes longer than a hundred uses of it. */
const formats = new Map<string, Intl.DateTimeFormat>();

function format(date: Date, locale: string | undefined, options: Intl.DateTimeFormatOptions): string {
  const key = JSON.stringify([locale, options]);
  const known = formats.get(key) ?? new Intl.DateTimeFormat(locale, options);
  formats.set(key, known);
  return known.format(date);
}

/** Which calendar day this is, in local time: equal for two times of one day. */
export function dayKey(iso: string): string {
  const date = new Date(iso);
  return `${date.getFullYear()}-${date.getMonth() + 1}-${date.getDate()}`;
}

/** Calendar days from `iso` to `now`, in local time. */
export function daysAgo(iso: string, now: Date): number {
  const midnight = (date: Date): number => Date.UTC(date.getFullYear(), date.getMonth(), date.getDate());
  return Math.round((midnight(now) - midnight(new Date(iso))) / dayMs);
}

/** The heading over a day of messages: "Today", "Yesterday", "Tuesday", "3 May 2026". */
export function dayLabel(iso: string, now: Date, locale?: string): string {
  const days = daysAgo(iso, now);
  if (days === 0) return "Today";
  if (days === 1) return "Yesterday";
  const date = new Date(iso);
  if (days > 1 && days < 7) return format(date, locale, { weekday: "long" });
  const year = date.getFullYear() === now.getFullYear() ? {} : ({ year: "numeric" } as const);
  return format(date, locale, { weekday: "long", day: "numeric", month: "long", ...year });
}

export function timeLabel(iso: string, locale?: string): string {
  return format(new Date(iso), locale, { hour: "2-digit", minute: "2-digit" });
}

/** The short time beside a conversation: "14:02", "Tue", "3 May", "03/05/2025". */
export function shortLabel(iso: string, now: Date, locale?: string): string {
  const days = daysAgo(iso, now);
  const date = new Date(iso);
  if (days === 0) return timeLabel(iso, locale);
  if (days > 0 && days < 7) return format(date, locale, { weekday: "short" });
  if (date.getFullYear() === now.getFullYear())
    return format(date, locale, { day: "numeric", month: "short" });
  return format(date, locale, { day: "2-digit", month: "2-digit", year: "numeric" });
}

/** The heading over part of the conversation list. */
export function ageLabel(iso: string, now: Date): string {
  const days = daysAgo(iso, now);
  if (days <= 0) return "Today";
  if (days === 1) return "Yesterday";
  if (days < 7) return "Last 7 days";
  if (days < 30) return "Last 30 days";
  return "Older";
}

/** How long ago, roughly: "just now", "3 min ago", "2 h ago", "on 3 May". */
export function agoLabel(iso: string, now: Date, locale?: string): string {
  const minutes = Math.floor((now.getTime() - new Date(iso).getTime()) / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  if (daysAgo(iso, now) === 0) return `${Math.floor(minutes / 60)} h ago`;
  return `on ${format(new Date(iso), locale, { day: "numeric", month: "short" })}`;
}
