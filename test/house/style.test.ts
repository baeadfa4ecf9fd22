import { basename } from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { parseSource, readSource, sourceFiles, walk } from "../support/source.ts";

const maxLines = 300;
const emptyNames = /^(utils?|helpers?|types?|manager|impl|common|misc|shared|stuff)$/;
const shipped = sourceFiles("src", "server");
const all = sourceFiles(
  "src",
  "server",
  "demo",
  "test",
  "bench",
  "scripts",
  "vite.config.ts",
  "tsdown.config.ts",
);
const linesOf = (path: string) => readSource(path).trimEnd().split("\n").length;

/** Whether a file's first comment says why it is long. */
function excuses(path: string): boolean {
  const first = /^(#!.*\n)?\s*(\/\/.*(\n\/\/.*)*|\/\*[\s\S]*?\*\/)/.exec(readSource(path))?.[0] ?? "";
  return /\blong\b|\blines\b|\bone file\b/i.test(first);
}

function anyIn(path: string, text?: string): number[] {
  const source = parseSource(path, text);
  const found: number[] = [];
  walk(source, (node) => {
    if (node.kind === ts.SyntaxKind.AnyKeyword)
      found.push(source.getLineAndCharacterOfPosition(node.pos).line + 1);
  });
  return found;
}

describe("the style of the house", () => {
  test("no file is longer than 300 lines unless its first comment says why, and the median is under 100", () => {
    expect(all.filter((path) => linesOf(path) > maxLines && !excuses(path))).toEqual([]);
    const lengths = shipped.map(linesOf).sort((a, b) => a - b);
    expect(lengths[Math.floor(lengths.length / 2)]).toBeLessThan(100);
  });

  test("files are kebab-case and named for what they hold", () => {
    const stems = all.map((path) => ({
      path,
      parts: basename(path)
        .replace(/\.tsx?$/, "")
        .split("."),
    }));
    expect(stems.filter(({ parts }) => parts.some((part) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(part)))).toEqual(
      [],
    );
    expect(
      stems.filter(({ parts }) =>
        parts.some((part) => part.split("-").some((word) => emptyNames.test(word))),
      ),
    ).toEqual([]);
  });

  test("nothing is typed any", () => {
    expect(all.flatMap((path) => anyIn(path).map((line) => `${path}:${line}`))).toEqual([]);
    expect(anyIn("x.ts", "const a: any = 1;\nlet b = x as any;")).toEqual([1, 2]);
  });

  test("no error is swallowed without a comment that says why nobody misses it", () => {
    const swallows =
      /catch\s*(\([^)]*\))?\s*\{\s*\}|\.catch\(\s*\(\s*\w*\s*\)\s*=>\s*(\{\s*\}|undefined|null)\s*\)/;
    const silent = shipped.flatMap((path) => {
      const lines = readSource(path).split("\n");
      const said = (at: number) => /\/\/|\*\//.test(`${lines[at - 1] ?? ""}${lines[at] ?? ""}`);
      return lines.flatMap((line, at) => (swallows.test(line) && !said(at) ? [`${path}:${at + 1}`] : []));
    });
    expect(silent).toEqual([]);
  });

  test("nothing is left for later, and no path of somebody's machine stands in a file", () => {
    const later = new RegExp(
      ["TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK"].map((word) => `\\b${word}\\b`).join("|"),
    );
    const machine = /["'`(\s]\/(home|root|work|Users|tmp)\/[a-z]/;
    expect(all.filter((path) => later.test(readSource(path)))).toEqual([]);
    expect(all.filter((path) => machine.test(readSource(path)))).toEqual([]);
  });
});
