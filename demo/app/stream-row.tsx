import type { RunningStream } from "holdfast";
import { memo, type ReactNode } from "react";
import { Mark } from "./icons.tsx";
import { MarkdownView } from "./markdown-view.tsx";

/** An answer in the making, in the place where its message will stand. It is read aloud when it is whole. */
export const StreamRow = memo(function StreamRow({ stream }: { stream: RunningStream }): ReactNode {
  return (
    <li
      className="message"
      data-side="agent"
      data-first="true"
      data-last="true"
      data-streaming="true"
      aria-busy="true"
    >
      <div className="speaker">
        <Mark className="speaker-mark" />
        <span>Agent</span>
      </div>
      <div className="bubble">
        {stream.text === "" ? <p className="prose">…</p> : <MarkdownView text={stream.text} />}
      </div>
      <div className="message-meta">writing…</div>
    </li>
  );
});
