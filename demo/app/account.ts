/** Who is signed in on this browser, and where. Nothing secret: the relay of this demo believes the name. */
export interface Account {
  readonly name: string;
  readonly actorId: string;
  readonly relayUrl: string;
}

type Box = Pick<Storage, "getItem" | "setItem" | "removeItem">;
const slot = "holdfast-demo.account";

/** The actor that a typed name stands for: the same for "Ada Lovelace" and " ada  lovelace". Empty for no name. */
export function actorIdOf(name: string): string {
  const id = name.trim().toLowerCase().normalize("NFC").replace(/\s+/g, "-").slice(0, 100);
  // Never half of a character that takes two units: no id may hold one.
  return id.replace(/[\uD800-\uDBFF]$/, "");
}

/** The relay's address as a URL, or undefined where the text is none. */
export function relayUrlOf(text: string): string | undefined {
  const trimmed = text.trim();
  if (!URL.canParse(trimmed)) return undefined;
  const { protocol } = new URL(trimmed);
  return protocol === "ws:" || protocol === "wss:" ? trimmed : undefined;
}

export function readAccount(box: Box): Account | undefined {
  const saved = parse(box.getItem(slot));
  if (typeof saved !== "object" || saved === null) return undefined;
  const { name, actorId, relayUrl } = saved as Record<string, unknown>;
  if (typeof name !== "string" || typeof actorId !== "string" || typeof relayUrl !== "string")
    return undefined;
  return { name, actorId, relayUrl };
}

export function saveAccount(box: Box, account: Account): void {
  box.setItem(slot, JSON.stringify(account));
}

export function forgetAccount(box: Box): void {
  box.removeItem(slot);
}

function parse(text: string | null): unknown {
  try {
    return JSON.parse(text ?? "null");
  } catch {
    // Written by something else: the same as nothing, and the next sign-in writes over it.
    return undefined;
  }
}
