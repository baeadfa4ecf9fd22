/** What the server of this page says about its surroundings. */
export interface DemoConfig {
  readonly relayUrl: string;
  /** Where the answering agent takes requests; undefined where there is none. */
  readonly agentUrl: string | undefined;
}

const slot = "holdfast-demo.config";

/**
 * Asks the page's server; offline, or on a server that knows nothing, what it said last time. `?relay=` in the
 * page's address wins over both.
 */
export async function loadConfig(page: Location, box: Storage): Promise<DemoConfig> {
  const asked = new URLSearchParams(page.search).get("relay");
  const told = (await fetchConfig()) ?? readConfig(box.getItem(slot));
  if (told !== undefined) box.setItem(slot, JSON.stringify(told));
  const relayUrl = asked ?? told?.relayUrl ?? `ws://${page.hostname}:8787`;
  return { relayUrl, agentUrl: told?.agentUrl };
}

async function fetchConfig(): Promise<DemoConfig | undefined> {
  try {
    const response = await fetch("config.json", { cache: "no-store" });
    return response.ok ? readConfig(await response.text()) : undefined;
  } catch {
    // No network: what was said last time holds.
    return undefined;
  }
}

function readConfig(text: string | null): DemoConfig | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text ?? "null");
  } catch {
    // A server that answers every path with its page.
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { relayUrl, agentUrl } = value as Record<string, unknown>;
  if (typeof relayUrl !== "string") return undefined;
  return { relayUrl, agentUrl: typeof agentUrl === "string" ? agentUrl : undefined };
}
