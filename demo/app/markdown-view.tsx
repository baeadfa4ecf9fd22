import { createElement, memo, type ReactNode, useMemo } from "react";
import { CodeBlock } from "./code-block.tsx";
import { type Block, type Inline, parseMarkdown } from "./markdown.ts";

/** Text with the marks of Markdown that chats use. Built of elements, never of HTML. */
export const MarkdownView = memo(function MarkdownView({ text }: { text: string }): ReactNode {
  const blocks = useMemo(() => parseMarkdown(text), [text]);
  return <div className="prose">{blocksView(blocks)}</div>;
});

function blocksView(blocks: readonly Block[]): ReactNode[] {
  return blocks.map((block, at) => blockView(block, at));
}

function blockView(block: Block, key: number): ReactNode {
  switch (block.kind) {
    case "paragraph":
      return <p key={key}>{inlineView(block.content)}</p>;
    case "heading":
      // The page's own headings end at level 2.
      return createElement(`h${Math.min(block.level + 2, 6)}`, { key }, ...inlineView(block.content));
    case "code":
      return <CodeBlock key={key} language={block.language} text={block.text} />;
    case "rule":
      return <hr key={key} />;
    case "quote":
      return <blockquote key={key}>{blocksView(block.children)}</blockquote>;
    case "list": {
      const items = block.items.map((item, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a message's text never changes
        <li key={at}>
          {inlineView(item.content)}
          {blocksView(item.children)}
        </li>
      ));
      return block.start === undefined ? (
        <ul key={key}>{items}</ul>
      ) : (
        <ol key={key} start={block.start}>
          {items}
        </ol>
      );
    }
  }
}

function inlineView(parts: readonly Inline[]): ReactNode[] {
  return parts.map((part, at) => inlinePart(part, at));
}

function inlinePart(part: Inline, key: number): ReactNode {
  switch (part.kind) {
    case "text":
      return part.text;
    case "code":
      return <code key={key}>{part.text}</code>;
    case "strong":
      return <strong key={key}>{inlineView(part.children)}</strong>;
    case "emphasis":
      return <em key={key}>{inlineView(part.children)}</em>;
    case "strike":
      return <s key={key}>{inlineView(part.children)}</s>;
    case "break":
      return <br key={key} />;
    case "link":
      return (
        <a key={key} href={part.href} target="_blank" rel="noopener noreferrer nofollow">
          {inlineView(part.children)}
        </a>
      );
  }
}
