// The part of Markdown that chat answers use, as a tree. What is not recognised stays text; nothing becomes HTML.

export type Inline =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "strong" | "emphasis" | "strike"; readonly children: readonly Inline[] }
  | { readonly kind: "link"; readonly href: string; readonly children: readonly Inline[] }
  | { readonly kind: "break" };

export interface ListItem {
  readonly content: readonly Inline[];
  readonly children: readonly Block[];
}

export type Block =
  | { readonly kind: "paragraph"; readonly content: readonly Inline[] }
  | { readonly kind: "heading"; readonly level: number; readonly content: readonly Inline[] }
  | { readonly kind: "code"; readonly language: string; readonly text: string }
  | { readonly kind: "list"; readonly start: number | undefined; readonly items: readonly ListItem[] }
  | { readonly kind: "quote"; readonly children: readonly Block[] }
  | { readonly kind: "rule" };

/** Nesting past this depth stays text, so that hostile input cannot exhaust the stack. */
const maxDepth = 8;

const fence = /^ {0,3}(```+|~~~+)\s*([\w+#.-]*)[^`]*$/;
const heading = /^ {0,3}(#{1,6})\s+(.+?)\s*#*$/;
const rule = /^ {0,3}([-*_])(\s*\1){2,}\s*$/;
const bullet = /^(\s*)([-*+•])\s+(.*)$/;
const numbered = /^(\s*)(\d{1,9})[.)]\s+(.*)$/;
const quote = /^ {0,3}>\s?(.*)$/;

export function parseMarkdown(source: string): readonly Block[] {
  return blocksOf(source.replace(/\r\n?/g, "\n").split("\n"), 0);
}

function blocksOf(lines: readonly string[], depth: number): readonly Block[] {
  const blocks: Block[] = [];
  let paragraph: string[] = [];
  const endParagraph = (): void => {
    if (paragraph.length > 0)
      blocks.push({ kind: "paragraph", content: inlineOf(paragraph.join("\n"), depth) });
    paragraph = [];
  };
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? "";
    const found = line.trim() === "" ? blankLine : blockAt(lines, at, depth, paragraph.length > 0);
    if (found === undefined) {
      paragraph.push(line);
      at += 1;
      continue;
    }
    endParagraph();
    if (found.block !== undefined) blocks.push(found.block);
    at = found.next ?? at + 1;
  }
  endParagraph();
  return blocks;
}

interface Found {
  readonly block?: Block;
  /** The first line after the block; the next one unless told. */
  readonly next?: number;
}
const blankLine: Found = {};

function blockAt(
  lines: readonly string[],
  at: number,
  depth: number,
  inParagraph: boolean,
): Found | undefined {
  const line = lines[at] ?? "";
  const fenced = fence.exec(line);
  if (fenced !== null) return codeAt(lines, at, fenced[1] ?? "```", fenced[2] ?? "");
  const headed = heading.exec(line);
  if (headed !== null) {
    const content = inlineOf(headed[2] ?? "", depth);
    return { block: { kind: "heading", level: (headed[1] ?? "#").length, content } };
  }
  if (rule.test(line)) return { block: { kind: "rule" } };
  if (depth >= maxDepth) return undefined;
  if (quote.test(line)) return quoteAt(lines, at, depth);
  const item = itemOf(line);
  // In the middle of a paragraph only "1." begins a list: "in\n1984. A year" is prose.
  if (item !== undefined && (!inParagraph || item.start === undefined || item.start === 1)) {
    return listAt(lines, at, item, depth);
  }
  return undefined;
}

function codeAt(lines: readonly string[], at: number, mark: string, language: string): Found {
  const text: string[] = [];
  let next = at + 1;
  for (; next < lines.length; next += 1) {
    const line = lines[next] ?? "";
    const bare = line.trim();
    if (bare.startsWith(mark) && bare.replaceAll(mark[0] ?? "`", "") === "") break;
    text.push(line);
  }
  return { block: { kind: "code", language, text: text.join("\n") }, next: next + 1 };
}

function quoteAt(lines: readonly string[], at: number, depth: number): Found {
  const inner: string[] = [];
  let next = at;
  for (; next < lines.length; next += 1) {
    const match = quote.exec(lines[next] ?? "");
    if (match === null) break;
    inner.push(match[1] ?? "");
  }
  return { block: { kind: "quote", children: blocksOf(inner, depth + 1) }, next };
}

interface ItemLine {
  readonly indent: number;
  /** The number of an ordered item; undefined for a bullet. */
  readonly start: number | undefined;
  readonly text: string;
}

function itemOf(line: string): ItemLine | undefined {
  const ordered = numbered.exec(line);
  if (ordered !== null)
    return { indent: widthOf(ordered[1]), start: Number(ordered[2]), text: ordered[3] ?? "" };
  const dashed = bullet.exec(line);
  if (dashed !== null) return { indent: widthOf(dashed[1]), start: undefined, text: dashed[3] ?? "" };
  return undefined;
}

function widthOf(space: string | undefined): number {
  return (space ?? "").replaceAll("\t", "    ").length;
}

function listAt(lines: readonly string[], at: number, first: ItemLine, depth: number): Found {
  const items: { text: string; rest: string[] }[] = [];
  let next = at;
  for (; next < lines.length; next += 1) {
    const line = lines[next] ?? "";
    const item = itemOf(line);
    const last = items.at(-1);
    if (item !== undefined && item.indent <= first.indent + 1) {
      if (item.indent < first.indent || (item.start === undefined) !== (first.start === undefined)) break;
      items.push({ text: item.text, rest: [] });
    } else if (line.trim() === "") {
      if (!continues(lines, next + 1, first)) break;
      last?.rest.push("");
    } else if (item !== undefined || widthOf(/^\s*/.exec(line)?.[0]) > first.indent + 1) {
      last?.rest.push(line.slice(Math.min(first.indent + 2, line.length - line.trimStart().length)));
    } else break;
  }
  const content = items.map(({ text, rest }) => ({
    content: inlineOf(text, depth),
    children: blocksOf(rest, depth + 1),
  }));
  return { block: { kind: "list", start: first.start, items: content }, next };
}

/** Whether what follows a blank line still belongs to the list. */
function continues(lines: readonly string[], from: number, first: ItemLine): boolean {
  const line = lines[from] ?? "";
  if (line.trim() === "") return false;
  const item = itemOf(line);
  if (item !== undefined && item.indent >= first.indent)
    return (item.start === undefined) === (first.start === undefined) || item.indent > first.indent + 1;
  return widthOf(/^\s*/.exec(line)?.[0]) > first.indent + 1;
}

const inlineMark =
  /(`+)([\s\S]*?[^`])\1(?!`)|\*\*(?=\S)([\s\S]*?\S)\*\*(?!\*)|__(?=\S)([\s\S]*?\S)__(?!\w)|~~(?=\S)([\s\S]*?\S)~~|\*(?=[^\s*])([\s\S]*?[^\s*])\*(?!\*)|(?<!\w)_(?=[^\s_])([\s\S]*?[^\s_])_(?!\w)|\[([^\]\n]+)\]\((\S+?)\)|(https?:\/\/[^\s<>"'`]+)|(\n)/;

function inlineOf(source: string, depth: number): readonly Inline[] {
  const parts: Inline[] = [];
  let rest = source;
  while (rest !== "") {
    const match = depth >= maxDepth ? null : inlineMark.exec(rest);
    if (match === null) {
      parts.push({ kind: "text", text: rest });
      break;
    }
    if (match.index > 0) parts.push({ kind: "text", text: rest.slice(0, match.index) });
    const { part, length } = inlineFrom(match, depth);
    parts.push(part);
    rest = rest.slice(match.index + length);
  }
  return parts;
}

function inlineFrom(match: RegExpExecArray, depth: number): { part: Inline; length: number } {
  const [whole, , code, strongStars, strongBars, strike, emStar, emBar, label, target, bare] = match;
  const length = whole.length;
  const inside = (text: string): readonly Inline[] => inlineOf(text, depth + 1);
  if (code !== undefined)
    return { part: { kind: "code", text: code.trim() === "" ? code : code.trim() }, length };
  const strong = strongStars ?? strongBars;
  if (strong !== undefined) return { part: { kind: "strong", children: inside(strong) }, length };
  if (strike !== undefined) return { part: { kind: "strike", children: inside(strike) }, length };
  const emphasis = emStar ?? emBar;
  if (emphasis !== undefined) return { part: { kind: "emphasis", children: inside(emphasis) }, length };
  if (label !== undefined) {
    const href = safeHref(target ?? "");
    if (href === undefined) return { part: { kind: "text", text: whole }, length };
    return { part: { kind: "link", href, children: inside(label) }, length };
  }
  if (bare !== undefined) {
    // A full stop or bracket after an address belongs to the sentence.
    const address = bare.replace(/[.,;:!?)\]]+$/, "");
    const href = safeHref(address);
    if (href === undefined) return { part: { kind: "text", text: bare }, length };
    return {
      part: { kind: "link", href, children: [{ kind: "text", text: address }] },
      length: address.length,
    };
  }
  return { part: { kind: "break" }, length };
}

/** Only addresses of the web and of mail become links: never `javascript:` or `data:`. */
export function safeHref(target: string): string | undefined {
  if (!URL.canParse(target)) return undefined;
  const { protocol, href } = new URL(target);
  return protocol === "https:" || protocol === "http:" || protocol === "mailto:" ? href : undefined;
}
