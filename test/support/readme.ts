/** A fenced block of a Markdown text: its words after the backticks, and what is inside. */
export interface Block {
  readonly info: string;
  readonly code: string;
  readonly line: number;
}

export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  const lines = markdown.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const open = /^(```+)\s*(.*)$/.exec(lines[at] ?? "");
    if (open === null) continue;
    const from = at + 1;
    while (at + 1 < lines.length && lines[at + 1] !== open[1]) at += 1;
    blocks.push({ info: open[2]?.trim() ?? "", code: lines.slice(from, at + 1).join("\n"), line: from });
    at += 1;
  }
  return blocks;
}
