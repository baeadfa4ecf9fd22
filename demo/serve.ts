import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { request as ask, createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize, sep } from "node:path";

export interface ServeOptions {
  /** The folder of the built page. */
  readonly folder: string;
  readonly relayUrl: string;
  /** Where the answering agent takes requests; without it, the page is told that there is none. */
  readonly agentUrl?: string | undefined;
  readonly host?: string;
  /** 0: any free port. */
  readonly port?: number;
}

export interface DemoServer {
  readonly url: string;
  close(): Promise<void>;
}

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
  ".map": "application/json",
};

const security = {
  "content-security-policy":
    "default-src 'self'; connect-src 'self' ws: wss:; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
} as const;

/** Serves the built page, tells it in `/config.json` where relay and agent are, and passes `/agent/*` on to the agent. */
export async function serveDemo(options: ServeOptions): Promise<DemoServer> {
  const { host = "127.0.0.1", port = 0 } = options;
  const server = createServer((request, response) => {
    answer(request, response, options).catch((error: unknown) => {
      console.error("serve", error);
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    url: `http://${host}:${address.port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: ServeOptions,
): Promise<void> {
  const { pathname } = new URL(request.url ?? "/", "http://page");
  if (pathname === "/config.json") return sendConfig(response, options);
  if (pathname.startsWith("/agent/"))
    return passOn(request, response, options.agentUrl, pathname.slice("/agent".length));
  if (request.method !== "GET" && request.method !== "HEAD") return refuse(response, 405);
  const file = await fileFor(options.folder, pathname);
  if (file === undefined) return refuse(response, 404);
  response.writeHead(200, {
    ...security,
    "content-type": types[extname(file.path)] ?? "application/octet-stream",
    "content-length": file.size,
    // Names under assets/ change with their content; everything else is asked for again.
    "cache-control": pathname.startsWith("/assets/") ? "public, max-age=31536000, immutable" : "no-cache",
  });
  if (request.method === "HEAD") response.end();
  else
    createReadStream(file.path)
      .on("error", () => response.destroy())
      .pipe(response);
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, security);
  response.end();
}

function sendConfig(response: ServerResponse, { relayUrl, agentUrl }: ServeOptions): void {
  response.writeHead(200, { ...security, "content-type": "application/json", "cache-control": "no-store" });
  response.end(JSON.stringify({ relayUrl, ...(agentUrl === undefined ? {} : { agentUrl: "agent" }) }));
}

/** The page may not ask another origin, so its own server does. */
function passOn(
  request: IncomingMessage,
  response: ServerResponse,
  agentUrl: string | undefined,
  path: string,
): void {
  if (agentUrl === undefined) {
    refuse(response, 404);
    return;
  }
  const headers = {
    "content-type": request.headers["content-type"] ?? "",
    "content-length": request.headers["content-length"] ?? "0",
  };
  const passed = ask(new URL(path, agentUrl), { method: request.method ?? "GET", headers }, (answered) => {
    response.writeHead(answered.statusCode ?? 502, {
      ...security,
      "content-type": "application/json",
      "cache-control": "no-store",
    });
    answered.pipe(response);
  });
  passed.on("error", () => {
    if (response.headersSent) response.destroy();
    else refuse(response, 502);
  });
  request.pipe(passed);
}

/** The file that a path means, never one outside of the folder. */
async function fileFor(
  folder: string,
  pathname: string,
): Promise<{ path: string; size: number } | undefined> {
  let decoded: string;
  try {
    decoded = decodeURIComponent(pathname);
  } catch {
    // A broken escape names no file.
    return undefined;
  }
  if (decoded.includes("\0")) return undefined;
  const path = normalize(join(folder, decoded.endsWith("/") ? `${decoded}index.html` : decoded));
  if (!path.startsWith(normalize(folder + sep))) return undefined;
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() === true ? { path, size: found.size } : undefined;
}
