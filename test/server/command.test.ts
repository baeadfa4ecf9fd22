import { existsSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jwtVerify } from "jose";
import { afterAll, describe, expect, test } from "vitest";
import { runCommand } from "../../server/command.ts";

const SECRET = "a secret of more than thirty-two bytes";
const folder = mkdtempSync(join(tmpdir(), "holdfast-command-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs it; a relay is asked to end as soon as it listens. */
async function run(args: readonly string[], env: Record<string, string> = {}) {
  let out = "";
  let err = "";
  const code = await runCommand({
    argv: args,
    env,
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    untilAsked: async () => {},
    nowMs: () => Date.UTC(2025, 0, 1),
  });
  return { code, out, err };
}

describe("holdfast", () => {
  test("tells what there is", async () => {
    for (const args of [["--help"], ["help"], ["relay", "--help"], ["token", "--help"]]) {
      const { code, out } = await run(args);
      expect(code).toBe(0);
      expect(out).toContain("holdfast relay");
    }
    expect((await run([])).code).toBe(2);
  });

  test.each([
    [["unheard-of"], "There is no command unheard-of"],
    [["relay", "--colour", "red"], "--colour"],
    [["relay", "--port", "many"], "--port is a whole number"],
    [["relay", "--port"], "--port"],
    [["relay", "extra"], "extra"],
    [["relay", "--durability", "much"], "--durability is power or process"],
    [["relay", "--limit", "pageMessages"], "--limit pageMessages is a whole number"],
    [["relay", "--jwt-public-key", join("no", "such", "file")], "cannot be read"],
    [["token"], "--actor"],
    [["token", "--actor", "ann"], "--jwt-secret"],
    [["token", "--actor", "ann", "--jwt-secret", SECRET, "--ttl", "-1"], "--ttl"],
    [["token", "--actor", "ann", "--jwt-secret", SECRET, "--ttl", "0"], "--ttl is at least 1 second"],
    [["token", "--actor", "ann", "--jwt-secret", SECRET, "--ttl", "1h"], "--ttl is a whole number"],
    [["relay", "--limit", "x"], "--limit x is a whole number"],
    [["relay", "--limit", "pageMessages=5=6"], "--limit pageMessages is a whole number"],
    [["relay", "--port", "-1"], "--port"],
  ])("[H10] %j: its error says what is wrong, and the exit code is 2", async (args, says) => {
    const { code, out, err } = await run(args);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain(says);
  });

  test.each([
    [["relay", "--limit", "pageMessage=5"], "limits.pageMessage is no limit"],
    [["relay", "--limit", "authTimeoutMs=3000000000"], "limits.authTimeoutMs must be at most"],
    [["relay", "--port", "70000"], "port must be a whole number from 0 to 65535"],
    [["relay", "--host", "0.0.0.0"], "host must be a loopback address"],
    [["relay", "--host", ""], "host must be an address"],
    [["relay", "--origin", "notaurl"], 'origins[0] must be "*" or an origin'],
    [["relay", "--origin", "https://app.example/chat"], 'origins[0] must be "*" or an origin'],
    [["relay", "--jwt-secret", "x"], "jwt.secret must be at least 32 bytes long"],
    [["relay", "--jwt-secret", ""], "jwt.secret must be at least 32 bytes long"],
    [["relay", "--jwt-secret", "a", "--jwks-url", "http://x"], "jwt must have one of"],
    [["relay", "--jwks-url", "keys"], "jwt.jwksUrl must be a URL"],
    [["token", "--actor", " ", "--jwt-secret", SECRET], "--actor must not be blank"],
    [["token", "--actor", "ann", "--jwt-secret", "x"], "jwt.secret must be at least 32 bytes long"],
  ])(
    "[H10] %j: its error says what is wrong, the exit code is 1, and no folder is made",
    async (args, says) => {
      const data = join(folder, "never");
      const { code, out, err } = await run([...args, ...(args[0] === "relay" ? ["--data", data] : [])]);
      expect([code, out]).toEqual([1, ""]);
      expect(err).toContain(says);
      expect(existsSync(data)).toBe(false);
    },
  );
});

describe("holdfast relay", () => {
  test("listens, says where, keeps its data in the folder and ends when asked", async () => {
    const data = join(folder, "deep", "data");
    const { code, out } = await run(["relay", "--port", "0", "--data", data, "--limit", "pageMessages=50"]);
    expect(code).toBe(0);
    expect(out).toMatch(/^holdfast relay listening on ws:\/\/127\.0\.0\.1:\d+\n$/);
    expect(existsSync(join(data, "holdfast.db"))).toBe(true);
    expect(existsSync(join(data, "holdfast.db-wal"))).toBe(false);
  });

  test("[P4] with a secret it checks tokens, and listens on every address", async () => {
    const data = join(folder, "secured");
    const { code, out } = await run(["relay", "--port", "0", "--data", data], {
      HOLDFAST_JWT_SECRET: SECRET,
    });
    expect(code).toBe(0);
    expect(out).toMatch(/^holdfast relay listening on ws:\/\/127\.0\.0\.1:\d+\n$/);
  });

  test("[H10] a database that is none is said to be, and left alone", async () => {
    const data = mkdtempSync(join(folder, "broken-"));
    writeFileSync(
      join(data, "holdfast.db"),
      "this is no database, and longer than the header of one would be.".repeat(20),
    );
    const { code, err } = await run(["relay", "--port", "0", "--data", data]);
    expect(code).toBe(1);
    expect(err).toContain("holdfast.db is no database of a relay, or it is damaged");
  });
});

describe("holdfast check", () => {
  test("[H10] says that a database is sound, what is wrong with it, or that there is none", async () => {
    const data = join(folder, "checked");
    expect(await run(["relay", "--port", "0", "--data", data])).toMatchObject({ code: 0 });
    const path = join(data, "holdfast.db");
    expect(await run(["check", "--data", data])).toEqual({ code: 0, out: `${path} is sound\n`, err: "" });
    truncateSync(path, statSync(path).size - 4096);
    const damaged = await run(["check", "--data", data]);
    expect([damaged.code, damaged.out]).toEqual([1, ""]);
    expect(damaged.err).toContain(path);
    const none = await run(["check", "--data", join(folder, "nowhere")]);
    expect(none).toMatchObject({ code: 1, err: expect.stringContaining("is not there") });
    expect(existsSync(join(folder, "nowhere"))).toBe(false);
  });

  test("[H10] a relay that runs is not disturbed by it", async () => {
    const data = join(folder, "running");
    const relay = runCommand({
      argv: ["relay", "--port", "0", "--data", data],
      env: {},
      out: () => {},
      err: () => {},
      untilAsked: async () => {
        expect(await run(["check", "--data", data])).toMatchObject({ code: 0 });
      },
      nowMs: () => 0,
    });
    expect(await relay).toBe(0);
  });
});

describe("holdfast token", () => {
  test("[P4] prints a token that the relay accepts for the actor, and no longer than said", async () => {
    const { code, out } = await run(["token", "--actor", "ann", "--jwt-secret", SECRET, "--ttl", "60"]);
    expect(code).toBe(0);
    const nowS = Date.UTC(2025, 0, 1) / 1000;
    const key = new TextEncoder().encode(SECRET);
    const { payload } = await jwtVerify(out.trim(), key, { currentDate: new Date(nowS * 1000) });
    expect(payload).toEqual({ sub: "ann", iat: nowS, exp: nowS + 60 });
    const byEnv = await run(["token", "--actor", "ann"], { HOLDFAST_JWT_SECRET: SECRET });
    expect(byEnv.out.split(".")).toHaveLength(3);
  });
});
