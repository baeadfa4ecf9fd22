import { useClient } from "holdfast/react";
import { type ReactNode, useEffect, useState } from "react";
import { Dialog } from "./dialog.tsx";
import { type ImportProgress, importConversations } from "./import-conversations.ts";

interface ImportPanelProps {
  readonly file: File;
  readonly onClose: () => void;
}

export function ImportPanel({ file, onClose }: ImportPanelProps): ReactNode {
  const client = useClient();
  const [progress, setProgress] = useState<ImportProgress | undefined>();
  const [ended, setEnded] = useState(false);
  const [problem, setProblem] = useState<string | undefined>();

  useEffect(() => {
    const stop = new AbortController();
    const run = async (): Promise<void> => {
      const text = await file.text();
      // A second run for the same file would find everything present; one that was not wanted begins nothing.
      if (stop.signal.aborted) return;
      await importConversations({ client, text, onProgress: setProgress, signal: stop.signal });
      setEnded(true);
    };
    run().catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)));
    return () => stop.abort();
  }, [client, file]);

  const total = progress?.total ?? 0;
  const done = progress?.done ?? 0;
  const over = ended || problem !== undefined;
  const some = (progress?.written ?? 0) + (progress?.present ?? 0) > 0;
  const heading = over ? (some ? "Imported" : "Nothing imported") : "Importing";
  return (
    <Dialog title={heading} onClose={onClose}>
      <p className="import-file">{file.name}</p>
      <progress max={Math.max(total, 1)} value={done} aria-label="Conversations imported" />
      <p role="status" data-testid="import-status">
        {ended && progress !== undefined ? summary(progress) : `${done} of ${total}`}
      </p>
      {problem !== undefined && (
        <p className="field-problem" role="alert">
          {problem}
        </p>
      )}
      {progress !== undefined && progress.failures.length > 0 && (
        <ul className="import-failures" aria-label="Lines that could not be imported">
          {progress.failures.slice(0, 20).map(({ line, reason }) => (
            <li key={line}>
              Line {line}: {reason}
            </li>
          ))}
          {progress.failures.length > 20 && <li>and {progress.failures.length - 20} more</li>}
        </ul>
      )}
      <div className="dialog-buttons">
        <button type="button" className={ended ? "button primary" : "button"} onClick={onClose}>
          {over ? "Done" : "Stop"}
        </button>
      </div>
    </Dialog>
  );
}

function summary({ written, messages, present, failures }: ImportProgress): string {
  const parts = [`${written} ${written === 1 ? "conversation" : "conversations"}, ${messages} messages`];
  if (present > 0) parts.push(`${present} were here before`);
  if (failures.length > 0) parts.push(`${failures.length} could not be read`);
  return `${parts.join("; ")}.`;
}
