import { hidesArtifacts, withoutArtifacts } from "./artifacts.ts";
import { checkIterable } from "./iterable.ts";
import { checkMessage, isMessage, type Message, type MessageInput } from "./message.ts";
import { sameContent } from "./message-equality.ts";
import { withoutReasoning } from "./reasoning.ts";

/**
 * What of these messages may be stored (S9, S10): system and transient messages are left out, reasoning blocks removed,
 * also inside tool results, and references to artifacts of the run made unusable. A message that this empties is left
 * out; one that was empty stays. Messages without an id get one. What has nothing to remove is handed on as it is.
 * @param stored the log that the result is to be compared with or written over: a message given without an id that says
 *   the same as the stored one at its place becomes that stored message (M8).
 * @throws InvalidInputError that names the message, as in `messages[2].content[0].text`.
 */
export function persistable(
  messages: Iterable<MessageInput | Message>,
  stored: readonly Message[] = [],
): readonly Message[] {
  const kept: Message[] = [];
  let index = 0;
  for (const given of checkIterable(messages, "messages")) {
    const message = checkMessage(given, `messages[${index}]`);
    index += 1;
    const fit = persistableMessage(message);
    if (fit === undefined) continue;
    const twin = stored[kept.length];
    const unnamed = !isMessage(given) && given.id === undefined;
    kept.push(unnamed && twin !== undefined && sameContent(fit, twin) ? twin : fit);
  }
  return Object.freeze(kept);
}

/** The one message as it may be stored, or undefined where none of it may be. See {@link persistable}. */
export function persistableMessage(message: Message): Message | undefined {
  if (message.role === "system" || message.metadata.transient) return undefined;
  const open = withoutReasoning(message);
  if (open.content.length === 0 && message.content.length > 0) return undefined;
  return hidesArtifacts(open) ? withoutArtifacts(open) : open;
}
