import {
  type FormEvent,
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { SendIcon, StopIcon } from "./icons.tsx";

interface ComposerProps {
  readonly id: string;
  readonly draft: boolean;
  /** Resolves when the message is durable on this device. */
  readonly onSend: (text: string) => Promise<void>;
  /** Ends the answer that is being written; undefined while there is none. */
  readonly onStop: (() => Promise<void>) | undefined;
}

/** Where text that was not sent yet waits through a reload. Cleared when the person logs out. */
const slotOf = (id: string): string => `holdfast-demo.draft.${id}`;

export function Composer({ id, draft, onSend, onStop }: ComposerProps): ReactNode {
  const [text, setText] = useState(() => sessionStorage.getItem(slotOf(id)) ?? "");
  const [problem, setProblem] = useState<string | undefined>();
  const field = useRef<HTMLTextAreaElement>(null);
  const blank = text.trim() === "";

  // biome-ignore lint/correctness/useExhaustiveDependencies: a suggestion that was chosen takes the focus away with it
  useEffect(() => {
    // On a touch screen a focus would open the keyboard over half of the page.
    if (matchMedia("(pointer: fine)").matches) field.current?.focus();
  }, [draft]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text
  useLayoutEffect(() => fitHeight(field.current), [text]);

  const change = (value: string): void => {
    setText(value);
    if (value === "") sessionStorage.removeItem(slotOf(id));
    else sessionStorage.setItem(slotOf(id), value);
  };
  const send = async (event?: FormEvent): Promise<void> => {
    event?.preventDefault();
    if (blank) return;
    setText("");
    setProblem(undefined);
    try {
      await onSend(text.trim());
      if (sessionStorage.getItem(slotOf(id)) === text) sessionStorage.removeItem(slotOf(id));
    } catch (error) {
      // What was typed meanwhile stays behind what could not be stored.
      setText((meanwhile) => (meanwhile === "" ? text : `${text}\n${meanwhile}`));
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  const stop = (): void => {
    onStop?.().catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)));
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Escape" && !event.nativeEvent.isComposing && onStop !== undefined) stop();
    // While an input method composes, Enter picks a candidate.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void send();
  };

  return (
    <form className="composer" onSubmit={(event) => void send(event)}>
      {problem !== undefined && (
        <p className="field-problem" role="alert">
          Not sent: {problem}
        </p>
      )}
      <div className="composer-box">
        <textarea
          ref={field}
          rows={1}
          aria-label="Message"
          placeholder="Write a message"
          enterKeyHint="send"
          value={text}
          onChange={(event) => change(event.target.value)}
          onKeyDown={onKeyDown}
        />
        {onStop !== undefined && blank ? (
          <button type="button" className="send stop" aria-label="Stop the answer" onClick={stop}>
            <StopIcon />
          </button>
        ) : (
          <button type="submit" className="send" aria-label="Send" disabled={blank}>
            <SendIcon />
          </button>
        )}
      </div>
      <p className="composer-hint" aria-hidden="true">
        <span className="key">Enter</span> to send, <span className="key">Shift</span>{" "}
        <span className="key">Enter</span> for a new line
        {onStop !== undefined && (
          <>
            , <span className="key">Esc</span> to stop the answer
          </>
        )}
      </p>
    </form>
  );
}

/** As `field-sizing: content` does, for engines without it. */
function fitHeight(field: HTMLTextAreaElement | null): void {
  if (field === null || CSS.supports("field-sizing", "content")) return;
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight}px`;
}
