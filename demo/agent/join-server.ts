import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

const maxBodyBytes = 4096;

/**
 * Takes `POST /join {"actorId"}` on loopback. Only JSON is taken, which another site's page cannot send without being
 * asked first; this demonstration has no other guard, as its relay has none.
 */
export function joinServer(join: (actorId: string) => Promise<void>): Server {
  return createServer((request, response) => {
    answer(request, join).then(
      ([status, body]) => send(response, status, body),
      (error: unknown) =>
        send(response, 500, { error: error instanceof Error ? error.message : String(error) }),
    );
  });
}

type Answer = readonly [status: number, body: object];

async function answer(request: IncomingMessage, join: (actorId: string) => Promise<void>): Promise<Answer> {
  if (request.url === "/healthz") return [200, { ok: true }];
  if (request.url !== "/join") return [404, { error: "there is /join and /healthz" }];
  if (request.method !== "POST") return [405, { error: "POST only" }];
  if (request.headers["content-type"]?.split(";")[0] !== "application/json")
    return [415, { error: "JSON only" }];
  const text = await readBody(request);
  if (text === undefined) return [413, { error: `at most ${maxBodyBytes} bytes` }];
  const actorId = actorIdOf(text);
  if (actorId === undefined) return [400, { error: "actorId must be a text of 1 to 128 characters" }];
  await join(actorId);
  return [200, { joined: true }];
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxBodyBytes) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

function actorIdOf(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || !("actorId" in value)) return undefined;
    const { actorId } = value;
    return typeof actorId === "string" && actorId.trim() !== "" && actorId.length <= 128
      ? actorId
      : undefined;
  } catch {
    // No JSON: told to the caller as a bad request.
    return undefined;
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(JSON.stringify(body));
}
