import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { publint } from "publint";
import { beforeAll, describe, expect, test } from "vitest";
import { readSource, root } from "../support/source.ts";

const execute = promisify(execFile);
const manifest = JSON.parse(readSource("package.json")) as {
  exports: Record<string, string | { types: string; default: string }>;
};
const doors = Object.entries(manifest.exports).filter(([name]) => name !== "./package.json");

/** The package as it would be published. Built here, so that what is checked is what the source says today. */
describe("the built package", () => {
  beforeAll(async () => {
    await execute("npx", ["tsdown", "--log-level", "error"], { cwd: root });
  }, 120_000);

  test("holds a module and its types for every door", () => {
    for (const [, door] of doors) {
      if (typeof door === "string") throw new Error("A door without types");
      expect([door.default, door.types].filter((path) => !existsSync(join(root, path)))).toEqual([]);
    }
  });

  test("publint finds nothing", async () => {
    const { messages } = await publint({ pkgDir: root, strict: true });
    expect(messages).toEqual([]);
  });

  test("its types resolve for every way of importing that it supports", async () => {
    const { stdout } = await execute(
      "npx",
      ["attw", "--pack", ".", "--profile", "esm-only", "--format", "json"],
      { cwd: root, maxBuffer: 64e6 },
    );
    const { problems } = JSON.parse(stdout) as { problems?: Record<string, { resolutionKind?: string }[]> };
    // CommonJS and Node 10's resolution are not supported, and are not expected to find anything.
    const found = Object.values(problems ?? {}).flat();
    expect(
      found.filter(({ resolutionKind }) => resolutionKind !== "node10" && resolutionKind !== "node16-cjs"),
    ).toEqual([]);
  }, 120_000);

  test("plain Node imports every door by name", async () => {
    const names = doors.map(([name]) => name.replace(/^\./, "holdfast"));
    const program = `for (const n of ${JSON.stringify(names)}) console.log(n, Object.keys(await import(n)).length > 0);`;
    const { stdout } = await execute(process.execPath, ["--input-type=module", "-e", program], { cwd: root });
    expect(stdout.trim().split("\n")).toEqual(names.map((name) => `${name} true`));
  });

  test("the command answers", async () => {
    const { stdout } = await execute(process.execPath, ["dist/server/main.js", "--help"], { cwd: root });
    expect(stdout).toMatch(/holdfast relay/);
  });
});
