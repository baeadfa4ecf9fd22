const code = [
  "Here is how this page keeps a message, with or without a network:",
  "",
  "```ts",
  'import { createMessage, openClient } from "holdfast";',
  "",
  'const client = await openClient({ url: "ws://127.0.0.1:8787", actorId: "ada" });',
  'const session = client.session("tunnel");',
  "",
  'await session.append({ messages: [createMessage({ role: "user", content: "Hello" })] });',
  "// Durable on this device now. On the relay as soon as it can be reached:",
  "const { pending } = await client.flush();",
  "```",
  "",
  "`append` resolves when the browser has committed; `flush` tells when nothing is waiting any more.",
].join("\n");

const help = [
  "I am a small agent that answers by rules. I can:",
  "",
  "- work out sums, like `17 × 23 + 4` or `(3.5 + 1) ^ 2`",
  "- tell the **time** and the date",
  "- show some **code**",
  "- greet, thank and say goodbye",
  "",
  "Each answer goes through the same log as your words: a tool call, its result and what I say about it arrive together, or not at all. Try pulling the plug while we talk.",
].join("\n");

const rules: readonly (readonly [RegExp, string])[] = [
  [/\b(what can you do|help|commands|how do you work)\b/i, help],
  [/\b(show|write|give)\b.*\b(code|example|snippet)\b/i, code],
  [/^(hi|hello|hey|good (morning|afternoon|evening)|moin|servus)\b/i, "Hello! What is on your mind?"],
  [/\b(thanks|thank you|thx|cheers)\b/i, "You are welcome."],
  [
    /^(bye|goodbye|good night|see you)\b/i,
    "Goodbye. Everything we said is kept, here and on your other devices.",
  ],
  [/\bhow are you\b/i, "Connected, and with nothing in my outbox. What about you?"],
  [
    /\b(who are you|your name)\b/i,
    "I am the answering agent of this demonstration: a process that uses the same library as this page.",
  ],
  [
    /\b(offline|tunnel|plane|no network)\b/i,
    "Write on: your words are stored on your device first. When the connection returns they are sent once and in order, and I answer then.",
  ],
];

/** An answer to a common phrase; undefined where no rule fits. */
export function smallTalk(text: string): string | undefined {
  return rules.find(([pattern]) => pattern.test(text))?.[1];
}
