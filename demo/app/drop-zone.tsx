import { type ReactNode, useEffect, useState } from "react";
import { UploadIcon } from "./icons.tsx";

/** Takes a file dropped anywhere on the page. */
export function DropZone({ onFile }: { onFile: (file: File) => void }): ReactNode {
  const [over, setOver] = useState(false);
  useEffect(() => {
    const hasFile = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false;
    const drag = (event: DragEvent): void => {
      if (!hasFile(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = (event: DragEvent): void => {
      if (event.relatedTarget === null) setOver(false);
    };
    const drop = (event: DragEvent): void => {
      if (!hasFile(event)) return;
      event.preventDefault();
      setOver(false);
      const file = event.dataTransfer?.files[0];
      if (file !== undefined) onFile(file);
    };
    addEventListener("dragover", drag);
    addEventListener("dragleave", leave);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", drag);
      removeEventListener("dragleave", leave);
      removeEventListener("drop", drop);
    };
  }, [onFile]);
  if (!over) return null;
  return (
    <div className="drop-zone" aria-hidden="true">
      <div>
        <UploadIcon />
        Drop a .jsonl file of conversations
      </div>
    </div>
  );
}
