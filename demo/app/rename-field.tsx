import { type ReactNode, useRef, useState } from "react";

interface RenameFieldProps {
  readonly title: string;
  /** With the new title; undefined where nothing is to change. Called once. */
  readonly onDone: (title: string | undefined) => void;
}

export function RenameField({ title, onDone }: RenameFieldProps): ReactNode {
  const [text, setText] = useState(title);
  const done = useRef(false);
  const finish = (keep: boolean): void => {
    // Escape takes the field away, and its blur must not rename after all.
    if (done.current) return;
    done.current = true;
    const chosen = text.trim();
    onDone(keep && chosen !== "" && chosen !== title ? chosen : undefined);
  };
  return (
    <input
      className="rename"
      aria-label="Title"
      value={text}
      maxLength={200}
      // biome-ignore lint/a11y/noAutofocus: it appears because the person asked to rename
      autoFocus
      onFocus={(event) => event.target.select()}
      onChange={(event) => setText(event.target.value)}
      onBlur={() => finish(true)}
      onKeyDown={(event) => {
        if (event.key === "Enter") finish(true);
        if (event.key === "Escape") finish(false);
        event.stopPropagation();
      }}
    />
  );
}
