import type { CatalogEntry } from "../../src/wire/catalog.ts";
import type { CatalogAnswer, CatalogQuestion } from "./contract.ts";

/**
 * A page of the entries given, which are in the order of their positions and reach to the actor's position or, when
 * there are more than the question wants, beyond one page.
 */
export function pageOfEntries(
  changed: readonly CatalogEntry[],
  question: CatalogQuestion,
  position: number,
): CatalogAnswer {
  const entries: CatalogEntry[] = [];
  let bytes = 0;
  for (const entry of changed) {
    bytes += JSON.stringify(entry).length;
    const full = entries.length >= question.maxEntries || bytes > question.maxBytes;
    if (full && entries.length > 0) return { entries, cursor: entries.at(-1)?.seq ?? 0, more: true };
    entries.push(entry);
  }
  return { entries, cursor: position, more: false };
}
