import type { SessionEntry } from "holdfast";
import type { SessionActions } from "holdfast/react";
import { type ReactNode, useState } from "react";
import { Dialog } from "./dialog.tsx";
import { go, parseRoute } from "./route.ts";
import { titleOf } from "./title.ts";

interface DeleteDialogProps {
  readonly entry: SessionEntry;
  readonly actions: SessionActions;
  readonly onClose: () => void;
}

export function DeleteDialog({ entry, actions, onClose }: DeleteDialogProps): ReactNode {
  const [problem, setProblem] = useState<string | undefined>();
  const remove = async (): Promise<void> => {
    try {
      await actions.delete(entry.id);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      return;
    }
    const route = parseRoute(location.hash);
    if (route.kind === "conversation" && route.id === entry.id) go({ kind: "list" });
    onClose();
  };
  return (
    <Dialog title="Delete this conversation?" onClose={onClose}>
      <p>
        “{titleOf(entry)}” and its {entry.count === 1 ? "message" : `${entry.count} messages`} disappear here
        and on your other devices, for good. Archiving keeps it out of the way instead.
      </p>
      {problem !== undefined && (
        <p className="field-problem" role="alert">
          {problem}
        </p>
      )}
      <div className="dialog-buttons">
        <button type="button" className="button" onClick={onClose}>
          Keep it
        </button>
        <button type="button" className="button danger" onClick={() => void remove()}>
          Delete
        </button>
      </div>
    </Dialog>
  );
}
