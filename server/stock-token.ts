import type { IncomingHttpHeaders } from "node:http";

const TOKEN_PROTOCOL = "holdfast.token.";

/** The token a stock client's request carries (rule P54): a bearer token, or a subprotocol that names it. */
export function tokenOf(headers: IncomingHttpHeaders): string | undefined {
  const bearer = /^Bearer (.+)$/i.exec(headers.authorization ?? "")?.[1];
  if (bearer !== undefined) return bearer.trim();
  const offered = (headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
  return offered.find((name) => name.startsWith(TOKEN_PROTOCOL))?.slice(TOKEN_PROTOCOL.length);
}

/** What the answer to the upgrade names. Browsers fail a connection whose protocols were offered and not answered. */
export function chosenProtocol(offered: Set<string>): string | false {
  const plain = [...offered].find((name) => !name.startsWith(TOKEN_PROTOCOL));
  return plain ?? [...offered][0] ?? false;
}
