import { type ReactNode, useState } from "react";
import { CheckIcon, CopyIcon } from "./icons.tsx";

export function CodeBlock({ language, text }: { language: string; text: string }): ReactNode {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return (
    <div className="code-block">
      <div className="code-head">
        <span>{language === "" ? "code" : language}</span>
        <button
          type="button"
          className="link-button"
          onClick={() => void copy()}
          onBlur={() => setCopied(false)}
        >
          {copied ? <CheckIcon /> : <CopyIcon />} {copied ? "Copied" : "Copy"}
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </div>
  );
}
