import { existsSync } from "node:fs";
import { connect, createServer } from "node:net";
import { expect, test } from "vitest";
import { isOrigin } from "../../server/origins.ts";
import { createRelay } from "../../server/relay.ts";
import type { RelayStorage } from "../../server/storage/contract.ts";
import { memoryStorage } from "../../server/storage/memory.ts";
import { sqliteStorage } from "../../server/storage/sqlite.ts";
import { silentReporter } from "../../src/env/reporter.ts";

const SECRET = "a secret of more than thirty-two bytes";

/** A port that is free, to see afterwards that nobody listens on it. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}

function listening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}

test.each<[string, object, string]>([
  ["a secret of one letter", { jwt: { secret: "x" } }, "jwt.secret"],
  ["a secret of 31 bytes", { jwt: { secret: "x".repeat(31) } }, "jwt.secret"],
  ["a number for jwt", { jwt: 5 }, "jwt"],
  ["null for jwt", { jwt: null }, "jwt"],
  ["jwt without a key", { jwt: {} }, "jwt"],
  ["a name that jwt does not have", { jwt: { secret: SECRET, algorithms: ["none"] } }, "jwt.algorithms"],
  ["a number for authenticate", { authenticate: 5 }, "authenticate"],
  [
    "both ways of authentication",
    { jwt: { secret: SECRET }, authenticate: async () => ({}) },
    "authenticate",
  ],
  ["one origin that is not in a list", { origins: "https://app.example" }, "origins"],
  ["an origin that is no text", { origins: [5] }, "origins[0]"],
  ["an origin without a scheme", { origins: ["*", "app.example"] }, "origins[1]"],
  ["an origin with a path", { origins: ["https://app.example/"] }, "origins[0]"],
  ["an origin with the port that its scheme implies", { origins: ["https://app.example:443"] }, "origins[0]"],
  ["a pattern for an origin", { origins: ["https://*.app.example "] }, "origins[0]"],
  ["the word null for an origin", { origins: ["null"] }, "origins[0]"],
  ["a text for tokenInUrl", { tokenInUrl: "yes" }, "tokenInUrl"],
  ["a number for limits", { limits: 5 }, "limits"],
  ["a list for limits", { limits: [5] }, "limits"],
  ["a limit that is none", { limits: { maxMessages: 5 } }, "limits.maxMessages"],
  ["a limit of 0", { limits: { turnMs: 0 } }, "limits.turnMs"],
  ["a time that no timer holds", { limits: { authTimeoutMs: 2 ** 31 } }, "limits.authTimeoutMs"],
  ["a path for storage", { storage: "holdfast.db" }, "storage"],
  ["a storage that lacks a method", { storage: { ...spied(), open: async () => ({}) } }, "storage"],
  ["an object for bus", { bus: {} }, "bus"],
  ["a function for bus", { bus: () => {} }, "bus"],
  ["a text for logger", { logger: "debug" }, "logger"],
  ["a logger without info", { logger: { error: () => {}, debug: () => {} } }, "logger"],
  ["a durability that is none", { durability: "none" }, "durability"],
  ["a text for port", { port: "8787" }, "port"],
  ["a port out of range", { port: 65_536 }, "port"],
  ["a number for host", { host: 5 }, "host"],
  ["an option that is none", { secret: SECRET }, "secret"],
  ["an option written otherwise", { Origins: [] }, "Origins"],
])("[H10] createRelay refuses %s, opens nothing and does not listen", async (_, options, path) => {
  const port = await freePort();
  const storage = spied();
  await expect(
    createRelay({ port, storage, logger: silentReporter, ...options } as never),
  ).rejects.toMatchObject({ code: "invalid-input", path });
  expect(storage.opened).toBe(0);
  expect(existsSync("holdfast.db")).toBe(false);
  expect(await listening(port)).toBe(false);
});

test.each([5, null, "ws://x", [], () => {}])(
  "[H10] createRelay refuses %j for its options",
  async (options) => {
    await expect(createRelay(options as never)).rejects.toMatchObject({
      code: "invalid-input",
      path: "options",
    });
  },
);

test("[H10] options that are undefined are as if they were not there", async () => {
  const relay = await createRelay({
    port: 0,
    storage: memoryStorage(),
    logger: silentReporter,
    host: undefined,
    jwt: undefined,
    limits: { turnMs: undefined as never },
  });
  expect(await listening(relay.port)).toBe(true);
  await relay.close();
});

test.each<[string, boolean]>([
  ["*", true],
  ["https://app.example", true],
  ["HTTPS://App.Example", true],
  ["http://localhost:5173", true],
  ["http://[::1]:5173", true],
  ["app://bundle", true],
  ["capacitor://localhost", true],
  ["https://", false],
  ["https://app.example?x", false],
  ["https://ann@app.example", false],
  ["https://app example", false],
  ["javascript:alert(1)", false],
  ["", false],
])("[H8] %j can be an origin: %j", (text, can) => {
  expect(isOrigin(text)).toBe(can);
});

test.each<[string, unknown, string]>([
  ["nothing", undefined, "options"],
  ["a path alone", "x.db", "options"],
  ["no path", {}, "path"],
  ["an empty path: SQLite would forget all of it", { path: "" }, "path"],
  ["a database in memory", { path: ":memory:" }, "path"],
  ["a durability that is none", { path: "x.db", durability: "much" }, "durability"],
  ["a driver that is none", { path: "x.db", driver: "sqlite" }, "driver"],
  ["no room for heads", { path: "x.db", maxCachedHeads: 0 }, "maxCachedHeads"],
  ["a name that is none", { path: "x.db", readonly: true }, "readonly"],
])("[H10] sqliteStorage refuses %s", (_, options, path) => {
  expect(() => sqliteStorage(options as never)).toThrow(
    expect.objectContaining({ code: "invalid-input", path }),
  );
  expect(existsSync("x.db")).toBe(false);
});

/** A storage that counts how often it was opened. */
function spied(): RelayStorage & { opened: number } {
  const storage = memoryStorage();
  const open = storage.open.bind(storage);
  return Object.assign(storage, {
    opened: 0,
    async open(this: { opened: number }, host: Parameters<RelayStorage["open"]>[0]) {
      this.opened += 1;
      return open(host);
    },
  });
}
