import type { SessionEntry } from "holdfast";
import type { SessionsView } from "holdfast/react";
import { useEffect, useState } from "react";

interface Answer {
  readonly text: string;
  readonly entries: readonly SessionEntry[];
}

/** What the search finds, kept current with the catalog; undefined while nothing is searched for. */
export function useSearch(catalog: SessionsView, text: string): readonly SessionEntry[] | undefined {
  const [answer, setAnswer] = useState<Answer>({ text: "", entries: [] });
  const { actions, entries } = catalog;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the catalog may change what is found
  useEffect(() => {
    if (text === "") return;
    let wanted = true;
    actions.search(text).then(
      (found) => {
        if (wanted) setAnswer({ text, entries: found });
      },
      (error: unknown) => console.error("The search failed", error),
    );
    return () => {
      wanted = false;
    };
  }, [actions, entries, text]);
  // The former answer stays until the next is there, so that the list does not flicker at each letter.
  return text === "" ? undefined : answer.entries;
}
