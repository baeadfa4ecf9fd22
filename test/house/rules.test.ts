import ts from "typescript";
import { describe, expect, test } from "vitest";
import { parseSource, readSource, sourceFiles, walk } from "../support/source.ts";
import { caseIds, holdIds, parityIds, testedCaseIds } from "./rule-ids.ts";

const protocolIds = [...readSource("src/wire/PROTOCOL.md").matchAll(/^- (P\d+) \*\*/gm)].map(
  (match) => match[1] ?? "",
);
const owed = [...parityIds, ...holdIds, ...testedCaseIds, ...protocolIds];
const known = new Set([...owed, ...caseIds]);

/** The ids of a title: those in front, "[T2] …", "[H3, C61] …", "[H3][C61] …", and those it mentions as "(C61)". */
function idsOf(title: string): string[] {
  const lead = /^(\[[^\]]*\]\s*)+/.exec(title)?.[0] ?? "";
  const mentioned = [...title.matchAll(/\(([A-Z]\d+(?:, [A-Z]\d+)*)\)/g)].map((match) => match[1] ?? "");
  return [lead, ...mentioned].flatMap((ids) => ids.split(/[[\],\s]+/)).filter((id) => id !== "");
}

interface Title {
  readonly path: string;
  readonly title: string;
  readonly ids: readonly string[];
}

/** First arguments of `test(…)` and its kin, and the `name` of each case of a suite that is looped over. */
function titlesOf(path: string, text?: string): Title[] {
  const found: Title[] = [];
  const add = (node: ts.Node | undefined) => {
    if (node === undefined) return;
    const title = ts.isStringLiteralLike(node)
      ? node.text
      : ts.isTemplateExpression(node)
        ? node.head.text
        : undefined;
    if (title !== undefined) found.push({ path, title, ids: idsOf(title) });
  };
  walk(parseSource(path, text), (node) => {
    if (ts.isCallExpression(node) && /^(test|it)\b/.test(node.expression.getText())) add(node.arguments[0]);
    if (ts.isPropertyAssignment(node) && node.name.getText() === "name") add(node.initializer);
    // A helper that makes cases is called with the title first: `rule("[T1] …", async () => …)`.
    else if (
      ts.isCallExpression(node) &&
      node.arguments[0] !== undefined &&
      ts.isStringLiteralLike(node.arguments[0])
    ) {
      if (
        /^\[[A-Z]\d+/.test(node.arguments[0].text) &&
        !/^(test|it|describe)\b/.test(node.expression.getText())
      )
        add(node.arguments[0]);
    }
  });
  return found;
}

describe("the rules and their tests", () => {
  const files = sourceFiles("test", "src", "server").filter((path) =>
    /^src\/testing\/|conformance[\w-]*\.ts$|^test\/(?!house\/rules\.test)/.test(path),
  );
  const titles = files.flatMap((path) => titlesOf(path));
  const tested = new Set(titles.flatMap(({ ids }) => ids));

  test("the protocol's rules are found", () => {
    expect(protocolIds.length).toBeGreaterThan(30);
    expect(new Set(protocolIds).size).toBe(protocolIds.length);
  });

  test("every rule has a test with its id in the title", () => {
    expect(owed.filter((id) => !tested.has(id))).toEqual([]);
  });

  test("no test names an unknown rule", () => {
    expect(titles.filter(({ ids }) => ids.some((id) => !known.has(id)))).toEqual([]);
  });

  test("no test is skipped, left for later, or run alone", () => {
    const excused = files.filter((path) =>
      /\b(test|it|describe)\.(skip|only|todo|skipIf|runIf|fails)\b/.test(readSource(path)),
    );
    expect(excused).toEqual([]);
  });

  test("titles are read from plain tests, tables, templates and cases", () => {
    const text =
      'test("[T1] a", f); test.each([1])("[T2, H3] b %s", f); it(`[C5][S1] c $' +
      '{x}`, f); const s = [{ name: "[M1] d", run }]; rule("[D1] e (C9, H1)", f);';
    expect(
      titlesOf("test/x.test.ts", text)
        .flatMap(({ ids }) => ids)
        .sort(),
    ).toEqual(["C5", "C9", "D1", "H1", "H3", "M1", "S1", "T1", "T2"]);
  });
});
