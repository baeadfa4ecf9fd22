import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import ts from "typescript";
import { afterAll, describe, expect, test } from "vitest";
import { type Block, blocksOf } from "../support/readme.ts";
import { readSource, root } from "../support/source.ts";

// Inside the repository, so that its compiler settings and its name for the package ("holdfast") apply.
const folder = join(root, "test-results/readme");
const execute = promisify(execFile);

const guides = readdirSync(join(root, "docs"), { recursive: true })
  .map(String)
  .filter((name) => name.endsWith(".md"));
const pages = ["README.md", ...guides.map((name) => `docs/${name}`)];
const blocks = pages.flatMap((page) => blocksOf(readSource(page)).map((block) => ({ ...block, page })));
const code = blocks.filter(({ info }) => /^tsx?\b/.test(info));

function fileOf(block: Block & { page: string }): string {
  mkdirSync(folder, { recursive: true });
  const path = join(
    folder,
    `${block.page.replace(/\W/g, "-")}-${block.line}.${block.info.startsWith("tsx") ? "tsx" : "ts"}`,
  );
  writeFileSync(path, `${block.code}\nexport {};\n`);
  return path;
}

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the words of the README are true", () => {
  test("every TypeScript block compiles against the public doors", () => {
    const settings = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
    const { options } = ts.parseJsonConfigFileContent(settings.config, ts.sys, root);
    const program = ts.createProgram(code.map(fileOf), {
      ...options,
      noEmit: true,
      paths: options.paths ?? {},
    });
    const faults = ts
      .getPreEmitDiagnostics(program)
      .filter(({ file }) => file === undefined || file.fileName.startsWith(folder));
    expect(code.length).toBeGreaterThan(0);
    expect(
      faults.map(
        ({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`,
      ),
    ).toEqual([]);
  }, 120_000);

  test.each(
    code
      .filter(({ info }) => / run\b/.test(info))
      .map((block) => [`${block.page}:${block.line}`, block] as const),
  )("the block at %s runs to its end", async (_, block) => {
    const path = fileOf(block);
    const { stdout } = await execute(process.execPath, ["--import", "tsx", path], {
      cwd: root,
      timeout: 30_000,
    });
    // A block that promises an output says so in a comment: console.log(x); // → text
    const promised = [...block.code.matchAll(/\/\/ → (.*)$/gm)].map((match) => match[1]?.trim() ?? "");
    for (const line of promised) expect(stdout).toContain(line);
    expect(promised.length).toBeGreaterThan(0);
  });

  test("some block of the README is run", () => {
    expect(
      code.filter(({ info, page }) => page === "README.md" && / run\b/.test(info)).length,
    ).toBeGreaterThan(0);
  });

  test("the two command lines of the README are the ones that the checks run", () => {
    const commands = blocks
      .filter(({ info, page }) => page === "README.md" && info === "sh")
      .flatMap((block) => block.code.split("\n"));
    expect(commands).toContain("npm install && npm start");
    expect(commands).toContain("npm install && npm test");
    expect(readSource(".ci/run")).toContain("npm install && npm test");
    expect(readSource("scripts/smoke.ts")).toContain("npm install && npm start");
  });
});
