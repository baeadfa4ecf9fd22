import type { ReactNode } from "react";
import { CheckIcon, CloseIcon, ToolIcon } from "./icons.tsx";
import type { ToolCall } from "./thread-rows.ts";

/** One tool call, folded: its name and, in brief, what went in; unfolded, everything in and out. */
export function ToolCallView({ call }: { call: ToolCall }): ReactNode {
  const { use, result } = call;
  const failed = result?.status === "error";
  return (
    <details className="tool-call" data-status={result === undefined ? "open" : result.status}>
      <summary>
        <ToolIcon />
        <code className="tool-name">{use?.name ?? "result"}</code>
        <span className="tool-brief">{use === undefined ? "" : brief(use.input)}</span>
        {result !== undefined && (
          <span className="tool-status">
            {failed ? <CloseIcon /> : <CheckIcon />}
            <span className="visually-hidden">{failed ? "failed" : "done"}</span>
          </span>
        )}
      </summary>
      {use !== undefined && (
        <>
          <h3>Given</h3>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
          <pre tabIndex={0}>{JSON.stringify(use.input, null, 2)}</pre>
        </>
      )}
      <h3>Answered</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>{result === undefined ? "Nothing yet" : readable(result.content)}</pre>
    </details>
  );
}

function brief(input: object): string {
  return Object.values(input)
    .map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
    .join(" · ")
    .slice(0, 120);
}

/** What a tool answered, laid out: text as text, and text that is JSON as JSON. */
function readable(content: unknown): string {
  if (Array.isArray(content) && content.length > 0 && content.every(isText)) {
    return readable(content.map((block) => block.text).join(""));
  }
  if (typeof content !== "string") return JSON.stringify(content, null, 2);
  try {
    const parsed: unknown = JSON.parse(content);
    return typeof parsed === "object" && parsed !== null ? JSON.stringify(parsed, null, 2) : content;
  } catch {
    // Ordinary text.
    return content;
  }
}

function isText(value: unknown): value is { readonly text: string } {
  return (
    typeof value === "object" && value !== null && "type" in value && value.type === "text" && "text" in value
  );
}
