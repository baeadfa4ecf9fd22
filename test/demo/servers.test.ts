import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { joinServer } from "../../demo/agent/join-server.ts";
import { type DemoServer, serveDemo } from "../../demo/serve.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-page-"));
const joined: string[] = [];
const agent = joinServer(async (actorId) => {
  if (actorId === "nobody") throw new Error("no client");
  joined.push(actorId);
});
let page: DemoServer;
let agentUrl: string;

beforeAll(async () => {
  writeFileSync(join(folder, "index.html"), "<h1>page</h1>");
  writeFileSync(join(`${folder}-secret`), "secret");
  await new Promise<void>((resolve) => agent.listen(0, "127.0.0.1", resolve));
  agentUrl = `http://127.0.0.1:${(agent.address() as AddressInfo).port}`;
  page = await serveDemo({ folder, relayUrl: "ws://relay", agentUrl });
});
afterAll(async () => {
  await page.close();
  agent.close();
  rmSync(folder, { recursive: true });
  rmSync(`${folder}-secret`);
});

/** As it is: `fetch` would tidy the path first. */
function rawStatus(path: string): Promise<number> {
  const { hostname, port } = new URL(page.url);
  return new Promise((resolve, reject) => {
    request({ hostname, port, path }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on("error", reject)
      .end();
  });
}

describe("the page's server", () => {
  test("gives the page and tells it where relay and agent are", async () => {
    expect(await (await fetch(page.url)).text()).toBe("<h1>page</h1>");
    expect(await (await fetch(`${page.url}config.json`)).json()).toEqual({
      relayUrl: "ws://relay",
      agentUrl: "agent",
    });
    expect((await fetch(page.url)).headers.get("content-security-policy")).toContain("default-src 'self'");
  });

  test.each([
    "/../x-secret",
    "/..%2f..%2fetc%2fpasswd",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/%",
    "/index.html%00",
    "/missing.js",
    "//etc/passwd",
  ])("%j names no file of the page", async (path) => {
    expect(await rawStatus(path)).toBe(404);
  });

  test("a sibling folder whose name begins alike is not inside", async () => {
    expect(await rawStatus(`/..%2f${folder.split("/").at(-1)}-secret`)).toBe(404);
  });

  test("passes the page's request on to the agent, and says when there is none", async () => {
    const ask = (url: string, init: RequestInit) =>
      fetch(url, { method: "POST", headers: { "content-type": "application/json" }, ...init });
    expect(await (await ask(`${page.url}agent/join`, { body: '{"actorId":"ada"}' })).json()).toEqual({
      joined: true,
    });
    expect(joined).toContain("ada");
    const alone = await serveDemo({ folder, relayUrl: "ws://relay" });
    expect((await ask(`${alone.url}agent/join`, { body: "{}" })).status).toBe(404);
    expect(await (await fetch(`${alone.url}config.json`)).json()).toEqual({ relayUrl: "ws://relay" });
    await alone.close();
    const dead = await serveDemo({ folder, relayUrl: "ws://relay", agentUrl: "http://127.0.0.1:1" });
    expect((await ask(`${dead.url}agent/join`, { body: "{}" })).status).toBe(502);
    await dead.close();
  });
});

describe("the agent's door", () => {
  const json = { "content-type": "application/json" };
  test.each<[string, RequestInit, number]>([
    ["/join", { method: "GET" }, 405],
    ["/other", { method: "POST" }, 404],
    ["/join", { method: "POST", body: '{"actorId":"x"}', headers: { "content-type": "text/plain" } }, 415],
    ["/join", { method: "POST", body: "{", headers: json }, 400],
    ["/join", { method: "POST", body: "null", headers: json }, 400],
    ["/join", { method: "POST", body: '{"actorId":" "}', headers: json }, 400],
    ["/join", { method: "POST", body: `{"actorId":"${"x".repeat(129)}"}`, headers: json }, 400],
    ["/join", { method: "POST", body: " ".repeat(5000), headers: json }, 413],
    ["/join", { method: "POST", body: '{"actorId":"nobody"}', headers: json }, 500],
    ["/healthz", {}, 200],
  ])("%s %o is answered %d", async (path, init, status) => {
    expect((await fetch(agentUrl + path, init)).status).toBe(status);
  });
});
