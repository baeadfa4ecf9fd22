import { describe, expect, test } from "vitest";
import { type Block, parseMarkdown, safeHref } from "../../demo/app/markdown.ts";

const text = (value: string) => ({ kind: "text", text: value });
const paragraph = (value: string) => ({ kind: "paragraph", content: [text(value)] });

function wordsOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(wordsOf).join("");
  if (typeof value !== "object" || value === null) return "";
  const { text: own, ...rest } = value as { text?: string };
  return (own ?? "") + Object.values(rest).map(wordsOf).join("");
}

describe("blocks", () => {
  test("paragraphs end at a blank line, and a single line end is a break", () => {
    expect(parseMarkdown("one\ntwo\n\nthree")).toEqual([
      { kind: "paragraph", content: [text("one"), { kind: "break" }, text("two")] },
      paragraph("three"),
    ]);
  });

  test("a fenced block keeps its text as it is, also when it never ends", () => {
    expect(parseMarkdown("```ts\nconst a = **1**;\n\n<b>\n```\nafter")).toEqual([
      { kind: "code", language: "ts", text: "const a = **1**;\n\n<b>" },
      paragraph("after"),
    ]);
    expect(parseMarkdown("~~~\nopen")).toEqual([{ kind: "code", language: "", text: "open" }]);
  });

  test("lists nest by indentation and keep their first number", () => {
    const [list] = parseMarkdown("3. three\n   - a\n   - b\n4. four") as [Extract<Block, { kind: "list" }>];
    expect(list.start).toBe(3);
    expect(list.items.map((item) => wordsOf(item.content))).toEqual(["three", "four"]);
    const [inner] = list.items[0]?.children ?? [];
    expect(inner).toMatchObject({ kind: "list", start: undefined });
    expect(wordsOf(inner)).toBe("ab");
  });

  test("items parted by blank lines are one list", () => {
    const blocks = parseMarkdown("- a\n\n- b\n\nend");
    expect(blocks.map((block) => block.kind)).toEqual(["list", "paragraph"]);
  });

  test("a year in running prose begins no list", () => {
    expect(parseMarkdown("It was in\n1984. A year.").map((block) => block.kind)).toEqual(["paragraph"]);
  });

  test("headings, rules and quotes", () => {
    expect(parseMarkdown("## Two\n---\n> said\n> again")).toEqual([
      { kind: "heading", level: 2, content: [text("Two")] },
      { kind: "rule" },
      {
        kind: "quote",
        children: [{ kind: "paragraph", content: [text("said"), { kind: "break" }, text("again")] }],
      },
    ]);
  });
});

describe("inside a line", () => {
  test("marks nest, and those that never close stay text", () => {
    expect(parseMarkdown("**bold *both*** and `a*b*` and 2 * 3 * 4 and snake_case_name **open")).toEqual([
      {
        kind: "paragraph",
        content: [
          { kind: "strong", children: [text("bold "), { kind: "emphasis", children: [text("both")] }] },
          text(" and "),
          { kind: "code", text: "a*b*" },
          text(" and 2 * 3 * 4 and snake_case_name **open"),
        ],
      },
    ]);
  });

  test("addresses become links without the punctuation of their sentence", () => {
    expect(parseMarkdown("see https://example.org/a_b, or [here](https://example.org/x).")).toEqual([
      {
        kind: "paragraph",
        content: [
          text("see "),
          {
            kind: "link",
            href: "https://example.org/a_b",
            children: [text("https://example.org/a_b")],
          },
          text(", or "),
          { kind: "link", href: "https://example.org/x", children: [text("here")] },
          text("."),
        ],
      },
    ]);
  });

  test.each([
    "javascript:alert(1)",
    "JAVASCRIPT:alert(1)",
    "data:text/html,x",
    "vbscript:x",
    "/path",
    "\tjavascript:x",
  ])("%j is no address to link to", (target) => {
    expect(safeHref(target)).toBeUndefined();
    expect(JSON.stringify(parseMarkdown(`[click](${target})`))).not.toContain('"link"');
  });
});

test("hostile nesting ends in text and in time", () => {
  expect(wordsOf(parseMarkdown(`${">".repeat(5_000)} deep`))).toContain("deep");
  expect(parseMarkdown("*".repeat(4_000)).length).toBeGreaterThan(0);
  expect(wordsOf(parseMarkdown(`${"**a ".repeat(2_000)}end`))).toContain("end");
  expect(wordsOf(parseMarkdown(`${"[".repeat(3_000)}x`))).toContain("x");
});
