import { type Message, textOf } from "holdfast";

/** A message's words without the marks of Markdown, for a screen reader: at most a few sentences. */
export function plainTextOf(message: Message): string {
  const words = withoutMarks(textOf(message).replace(/```[\s\S]*?(```|$)/g, " (code) "));
  return words.length > 400 ? `${words.slice(0, 400)}…` : words;
}

/** Text on one line, as it reads without the marks of Markdown. */
export function withoutMarks(text: string): string {
  return text
    .replace(/(\*\*|__|~~|`+)(?=\S)|(?<=\S)(\*\*|__|~~|`+)/g, "")
    .replace(/(^|\s)[#>]+\s/g, "$1")
    .replace(/(?<![\w*])[*_](?=\w)|(?<=[\w.,!?])[*_](?![\w*])/g, "")
    .replace(/\[([^\]]+)\]\([^)\s]+\)/g, "$1")
    .replace(/\s+/g, " ")
    .trim();
}
