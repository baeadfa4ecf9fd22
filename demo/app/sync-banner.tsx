import { type ReactNode, useState } from "react";
import { CloudOffIcon } from "./icons.tsx";
import { noticeOf, type Status } from "./sync-words.ts";

interface SyncBannerProps {
  readonly status: Status;
  readonly onReconnect: () => void;
}

export function SyncBanner({ status, onReconnect }: SyncBannerProps): ReactNode {
  const [cut, setCut] = useState(false);
  // Adjusted while rendering, so that no frame shows the banner gone between two attempts to connect.
  if (status.link === "offline" && !cut) setCut(true);
  if (status.link === "online" && cut) setCut(false);
  const notice = noticeOf(status, cut);
  if (notice === undefined) return null;
  return (
    <div className="sync-banner" data-tone={notice.tone} role="status">
      <CloudOffIcon />
      <span>{notice.text}</span>
      {notice.canReconnect && (
        <button type="button" className="link-button" onClick={onReconnect}>
          Try now
        </button>
      )}
    </div>
  );
}
