import type { Client } from "holdfast";

export type Status = Client["status"];

/** One line on where things stand, for the foot of the list. */
export function statusWords(status: Status): {
  readonly tone: "good" | "busy" | "off" | "bad";
  readonly text: string;
} {
  if (status.link === "online") {
    if (status.pending > 0) return { tone: "busy", text: `Sending ${status.pending}…` };
    if (status.rejected > 0) return { tone: "bad", text: `${status.rejected} not accepted` };
    return { tone: "good", text: "All saved" };
  }
  switch (status.link) {
    case "connecting":
      return { tone: "busy", text: "Connecting…" };
    case "offline":
      return { tone: "off", text: status.pending > 0 ? `Offline · ${status.pending} waiting` : "Offline" };
    case "needs-auth":
      return { tone: "bad", text: "Sign in again" };
    case "refused":
      return { tone: "bad", text: "Refused by the relay" };
    case "closed":
      return { tone: "off", text: "Closed" };
  }
}

/** What the banner over the thread says; undefined while all is well. */
export interface Notice {
  readonly tone: "calm" | "bad";
  readonly text: string;
  readonly canReconnect: boolean;
}

/** `cut`: whether the connection was lost since it last stood, so that attempts to connect do not hide the banner. */
export function noticeOf(status: Status, cut: boolean): Notice | undefined {
  if (status.storage === "upgrade-required")
    return {
      tone: "bad",
      text: "A newer version of this page is open. Reload to go on writing.",
      canReconnect: false,
    };
  if (status.storage === "blocked")
    return {
      tone: "bad",
      text: "Another tab holds an older version open. Close it to go on.",
      canReconnect: false,
    };
  switch (status.link) {
    case "needs-auth":
      return { tone: "bad", text: `Your sign-in has ended. ${waiting(status.pending)}`, canReconnect: true };
    case "refused":
      return {
        tone: "bad",
        text: `${status.lastError?.message ?? "The relay refused this client."} ${waiting(status.pending)}`,
        canReconnect: true,
      };
    case "offline":
    case "connecting":
      if (status.link === "connecting" && !cut) return undefined;
      return { tone: "calm", text: `You are offline. ${waiting(status.pending)}`, canReconnect: true };
    case "online":
    case "closed":
      break;
  }
  if (status.storage === "memory")
    return {
      tone: "calm",
      text: "This browser keeps nothing: what is not sent is lost when the tab closes.",
      canReconnect: false,
    };
  return undefined;
}

function waiting(pending: number): string {
  if (pending === 0) return "What you write is kept on this device.";
  return `${pending} waiting to be sent, safe on this device.`;
}

export function storageWords(storage: Status["storage"]): string {
  switch (storage) {
    case "persisted":
      return "On this device, protected from clean-up";
    case "best-effort":
      return "On this device";
    case "memory":
      return "In memory only";
    case "blocked":
      return "Blocked by another tab";
    case "reset":
      return "Was emptied from outside; loading again";
    case "upgrade-required":
      return "Needs a newer version of this page";
  }
}
