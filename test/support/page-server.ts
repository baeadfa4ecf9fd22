import { mkdtempSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { doors } from "../../vite.config.ts";

const kinds: Record<string, string> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };

export interface PageServer {
  /** The page's address; once loaded, `window.libraries` and `window.holdfast` are there. */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Builds the test page from source and serves it. Stays up while a test cuts the line to the relay. */
export async function openPageServer(options: { root?: string } = {}): Promise<PageServer> {
  const root = options.root ?? fileURLToPath(new URL("./page", import.meta.url));
  const folder = mkdtempSync(join(tmpdir(), "holdfast-page-"));
  await build({
    configFile: false,
    root,
    logLevel: "error",
    resolve: { alias: doors },
    build: { outDir: folder, emptyOutDir: true, target: "es2022", minify: false },
  });
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://page").pathname;
    const file = normalize(join(folder, path.endsWith("/") ? `${path}index.html` : path));
    readFile(file).then(
      (body) => response.writeHead(200, { "content-type": kinds[extname(file)] ?? "text/plain" }).end(body),
      () => response.writeHead(404, { "content-type": "text/plain" }).end("Not here"),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The page server has no port.");
  return {
    url: `http://127.0.0.1:${address.port}/`,
    port: address.port,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
