import type { Client } from "holdfast";
import { useSyncStatus } from "holdfast/react";
import { type ReactNode, useState } from "react";
import { Dialog } from "./dialog.tsx";

interface LogOutDialogProps {
  readonly client: Client;
  readonly onStay: () => void;
  readonly onLeft: () => void;
}

/** How long leaving waits for what is still to be sent. */
const sendTimeoutMs = 10_000;

export function LogOutDialog({ client, onStay, onLeft }: LogOutDialogProps): ReactNode {
  const { pending, link } = useSyncStatus();
  const [step, setStep] = useState<"asking" | "sending" | "leaving">("asking");
  const [problem, setProblem] = useState<string | undefined>();

  const leave = async (force: boolean): Promise<void> => {
    setProblem(undefined);
    try {
      if (!force && pending > 0) {
        setStep("sending");
        await client.flush({ timeoutMs: sendTimeoutMs });
      }
      setStep("leaving");
      const left = await client.wipe({ force });
      if (force || left.pending === 0) onLeft();
      else {
        setProblem(`${left.pending} could not be sent in time.`);
        setStep("asking");
      }
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      setStep("asking");
    }
  };

  const busy = step !== "asking";
  return (
    <Dialog title="Log out?" onClose={onStay}>
      {pending === 0 ? (
        <p>Everything is on the relay. Logging out removes it from this device, in all tabs.</p>
      ) : (
        <p>
          <strong>{pending === 1 ? "1 change has" : `${pending} changes have`} not reached the relay.</strong>{" "}
          Logging out now deletes {pending === 1 ? "it" : "them"} for good
          {link === "online" ? "." : "; connect first to keep what you wrote."}
        </p>
      )}
      {problem !== undefined && (
        <p className="field-problem" role="alert">
          {problem}
        </p>
      )}
      <div className="dialog-buttons">
        <button type="button" className="button" disabled={step === "leaving"} onClick={onStay}>
          Stay
        </button>
        {pending > 0 && (
          <button
            type="button"
            className="button danger"
            disabled={step === "leaving"}
            onClick={() => void leave(true)}
          >
            Delete and log out
          </button>
        )}
        {(pending === 0 || link === "online") && (
          <button type="button" className="button primary" disabled={busy} onClick={() => void leave(false)}>
            {step === "sending" ? "Sending…" : pending === 0 ? "Log out" : "Send, then log out"}
          </button>
        )}
      </div>
    </Dialog>
  );
}
