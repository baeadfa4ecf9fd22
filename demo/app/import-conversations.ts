import type { Client } from "holdfast";
import { fromOpenAI } from "holdfast/openai";
import { titleFrom } from "./title.ts";

export interface ImportProgress {
  readonly done: number;
  readonly total: number;
  /** Conversations written, and their messages. */
  readonly written: number;
  readonly messages: number;
  /** Those that were here before: they are left as they are. */
  readonly present: number;
  readonly failures: readonly { readonly line: number; readonly reason: string }[];
}

interface Importing {
  readonly client: Pick<Client, "session" | "sessions">;
  readonly text: string;
  readonly onProgress: (progress: ImportProgress) => void;
  readonly signal: AbortSignal;
}

/**
 * Reads one conversation a line, `{id, messages}` with messages in OpenAI's chat format, and writes each as a
 * session in one step. A line that cannot be read, or not stored, is told and does not stop the others.
 */
export async function importConversations({
  client,
  text,
  onProgress,
  signal,
}: Importing): Promise<ImportProgress> {
  const lines = text
    .split("\n")
    .flatMap((line, at) => (line.trim() === "" ? [] : [{ line, number: at + 1 }]));
  let progress: ImportProgress = {
    done: 0,
    total: lines.length,
    written: 0,
    messages: 0,
    present: 0,
    failures: [],
  };
  const tell = (change: Partial<ImportProgress>): void => {
    progress = { ...progress, done: progress.done + 1, ...change };
    onProgress(progress);
  };
  onProgress(progress);
  for (const { line, number } of lines) {
    if (signal.aborted) break;
    try {
      const count = await importOne(client, line);
      if (count === undefined) tell({ present: progress.present + 1 });
      else tell({ written: progress.written + 1, messages: progress.messages + count });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      tell({ failures: [...progress.failures, { line: number, reason }] });
    }
  }
  return progress;
}

/** How many messages were written; undefined where the conversation was here before. */
async function importOne(client: Importing["client"], line: string): Promise<number | undefined> {
  const { id, messages: foreign } = readLine(line);
  const messages = fromOpenAI(foreign);
  const session = client.session(id);
  try {
    const before = await session.load();
    if (before !== undefined && before.revision.count > 0) return undefined;
    const firstWords = foreign.find((message) => message.role === "user")?.content;
    const title = typeof firstWords === "string" ? titleFrom(firstWords) : id;
    // `imported` tells an agent that nobody waits for an answer to these.
    const after = await session.append({ messages, metadata: { title, imported: messages.length } });
    await client.sessions.markRead(id, after.revision.count);
    return after.revision.count;
  } finally {
    await session.close();
  }
}

interface ForeignMessage {
  readonly role?: unknown;
  readonly content?: unknown;
}

function readLine(line: string): { readonly id: string; readonly messages: readonly ForeignMessage[] } {
  const value: unknown = JSON.parse(line);
  if (typeof value !== "object" || value === null) throw new Error("not an object");
  const { id, messages } = value as Record<string, unknown>;
  if (typeof id !== "string" || id.trim() === "") throw new Error("has no id");
  if (!Array.isArray(messages) || messages.length === 0) throw new Error("has no messages");
  return { id, messages };
}
