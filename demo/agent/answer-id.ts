import { createHash } from "node:crypto";

/**
 * The id of the nth message of the answer to a question. It follows from the question alone: a second agent, or the
 * same one after a crash, makes the same ids, and the relay recognises the answer instead of storing it twice.
 */
export function answerId(questionId: string, n: number): string {
  return `answer-${createHash("sha256").update(questionId).digest("hex").slice(0, 32)}-${n}`;
}
