import type { SessionEntry } from "holdfast";

const maxLength = 60;

/** The title that a conversation's first words give it. */
export function titleFrom(text: string): string {
  const line =
    text
      .trim()
      .split("\n", 1)[0]
      ?.replace(/^[#>*\-\s`]+/, "")
      .trim() ?? "";
  const title = line === "" ? text.trim() : line;
  if (title.length <= maxLength) return title;
  const cut = title.slice(0, maxLength);
  const space = cut.lastIndexOf(" ");
  // Never half of a character that takes two units.
  return `${(space > maxLength / 2 ? cut.slice(0, space) : cut).replace(/[\uD800-\uDBFF]$/, "").trimEnd()}…`;
}

export function titleOf(entry: Pick<SessionEntry, "title" | "preview"> | undefined): string {
  const title = entry?.title?.trim() ?? "";
  if (title !== "") return title;
  const preview = entry?.preview.trim() ?? "";
  return preview === "" ? "Untitled" : titleFrom(preview);
}
