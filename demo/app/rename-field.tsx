import { type ReactNode, useEffect, useRef, useState } from "react";

interface RenameFieldProps {
  readonly title: string;
  /** With the new title; undefined where nothing is to change. Called once. */
  readonly onDone: (title: string | undefined) => void;
}

export function RenameField({ title, onDone }: RenameFieldProps): ReactNode {
  const [text, setText] = useState(title);
  const done = useRef(false);
  const field = useRef<HTMLInputElement>(null);
  const byKey = useRef(false);
  useEffect(() => {
    const holder = field.current?.parentElement;
    // Ended by a key, the focus goes to what stands in the field's place; a click has put it where it belongs.
    return () => {
      if (byKey.current) holder?.querySelector<HTMLElement>("a[href], .menu-button")?.focus();
    };
  }, []);
  const finish = (keep: boolean): void => {
    // Escape takes the field away, and its blur must not rename after all.
    if (done.current) return;
    done.current = true;
    const chosen = text.trim();
    onDone(keep && chosen !== "" && chosen !== title ? chosen : undefined);
  };
  return (
    <input
      ref={field}
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
        event.stopPropagation();
        // While an input method composes, both keys are its own.
        if (event.nativeEvent.isComposing || (event.key !== "Enter" && event.key !== "Escape")) return;
        // The same key must not press what gets the focus.
        event.preventDefault();
        byKey.current = true;
        finish(event.key === "Enter");
      }}
    />
  );
}
