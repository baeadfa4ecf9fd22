import type { RunningStream } from "holdfast";
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { dayLabel } from "./dates.ts";
import { DownIcon } from "./icons.tsx";
import { MessageRow } from "./message-row.tsx";
import { StreamRow } from "./stream-row.tsx";
import type { Row } from "./thread-rows.ts";
import type { Rejected } from "./use-rejected.ts";

interface MessageListProps {
  readonly rows: readonly Row[];
  /** Answers in the making: they stand behind the rows. */
  readonly streams: readonly RunningStream[];
  readonly hasEarlier: boolean;
  readonly loadEarlier: (n?: number) => Promise<void>;
  readonly rejected: Rejected;
  /** Whether the last message is in sight: then the list follows what comes. */
  readonly atEnd: boolean;
  readonly onAtEnd: (atEnd: boolean) => void;
}

const pageOf = 50;
/** This close to the end counts as the end, in CSS pixels. */
const nearEnd = 64;

export function MessageList(props: MessageListProps): ReactNode {
  const { rows, streams, hasEarlier, loadEarlier, rejected, atEnd, onAtEnd } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const top = useRef<HTMLDivElement>(null);
  const shown = useRef({ first: "", height: 0 });
  const [loading, setLoading] = useState(false);
  const firstKey = rows.find((row) => row.kind === "message")?.key ?? "";
  const lastKey = rows.at(-1)?.key ?? "";

  // biome-ignore lint/correctness/useExhaustiveDependencies: every change of the rows may change the height
  useLayoutEffect(() => {
    const { current } = scroller;
    if (current === null) return;
    if (atEnd) current.scrollTop = current.scrollHeight;
    // What came in front pushes the rest down: the same words stay under the eyes.
    else if (shown.current.first !== firstKey)
      current.scrollTop += current.scrollHeight - shown.current.height;
    shown.current = { first: firstKey, height: current.scrollHeight };
  }, [rows, streams, firstKey, lastKey, atEnd]);

  useEffect(() => followGrowth(scroller.current, atEnd), [atEnd]);

  const load = useRef<() => void>(() => {});
  load.current = () => {
    if (loading) return;
    setLoading(true);
    loadEarlier(pageOf)
      .catch((error: unknown) => console.error("Earlier messages could not be read", error))
      .finally(() => setLoading(false));
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: watched anew after each page, because it may still be in sight
  useEffect(() => {
    const { current: target } = top;
    if (!hasEarlier || target === null) return;
    const observer = new IntersectionObserver(
      (seen) => {
        if (seen.some((entry) => entry.isIntersecting)) load.current();
      },
      { root: scroller.current, rootMargin: "600px 0px 0px" },
    );
    observer.observe(target);
    return () => observer.disconnect();
  }, [hasEarlier, firstKey]);

  const toEnd = (): void => {
    scroller.current?.scrollTo({ top: scroller.current.scrollHeight, behavior: "smooth" });
  };
  return (
    <div className="thread-frame">
      <section
        ref={scroller}
        className="thread-scroll"
        aria-label="Messages"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        onScroll={(event) => {
          const { scrollHeight, scrollTop, clientHeight } = event.currentTarget;
          onAtEnd(scrollHeight - scrollTop - clientHeight < nearEnd);
        }}
      >
        <div className="thread-column">
          <div ref={top} className="thread-top">
            {hasEarlier && (
              <button
                type="button"
                className="button quiet"
                disabled={loading}
                onClick={() => load.current()}
              >
                {loading ? "Loading…" : "Earlier messages"}
              </button>
            )}
          </div>
          <ol className="messages">
            {rows.map((row) =>
              row.kind === "day" ? (
                <li key={row.key} className="day">
                  <time dateTime={row.at}>{dayLabel(row.at, new Date())}</time>
                </li>
              ) : (
                <MessageRow
                  key={row.key}
                  row={row}
                  op={rejected.byMessage.get(row.key)}
                  rejected={rejected}
                />
              ),
            )}
            {streams.map((stream) => (
              <StreamRow key={stream.id} stream={stream} />
            ))}
          </ol>
        </div>
      </section>
      {!atEnd && (
        <button type="button" className="to-end" aria-label="To the newest message" onClick={toEnd}>
          <DownIcon />
        </button>
      )}
    </div>
  );
}

/** Keeps the end in sight while it is in sight: when the window, the composer or a message changes its height. */
function followGrowth(scroller: HTMLElement | null, atEnd: boolean): (() => void) | undefined {
  if (scroller === null || !atEnd) return undefined;
  const observer = new ResizeObserver(() => {
    scroller.scrollTop = scroller.scrollHeight;
  });
  observer.observe(scroller);
  if (scroller.firstElementChild !== null) observer.observe(scroller.firstElementChild);
  return () => observer.disconnect();
}
