import { invalidInput } from "../model/errors.ts";
import { checkIterable } from "../model/iterable.ts";
import { copyJsonObject, freezeJson, type JsonObject, jsonEquals, setKey } from "../model/json.ts";
import {
  checkMessage,
  type Message,
  type MessageInput,
  readMessage,
  rebuildMessage,
} from "../model/message.ts";
import { readForeign } from "./openai-read.ts";
import { RESIDUE_KEY } from "./openai-residue.ts";
import type { OpenAIMessage } from "./openai-shapes.ts";
import { writeForeign } from "./openai-write.ts";

export type {
  OpenAIAudioPart,
  OpenAICustomCall,
  OpenAIFilePart,
  OpenAIFunctionCall,
  OpenAIImagePart,
  OpenAIMessage,
  OpenAIPart,
  OpenAIRefusalPart,
  OpenAITextPart,
} from "./openai-shapes.ts";

/**
 * Messages of the chat completions format as ours, one for one, with fresh ids. Texts, pictures and files become blocks,
 * `tool_calls` become tool_use blocks, and a `tool` message one tool_result block. What our blocks cannot say (the exact
 * text of arguments, `name`, parts with a remote address, unknown fields) is kept in `metadata.openai`, so that
 * {@link toOpenAI} gives exactly these messages again. Arguments that are no JSON object give the input `{}`. Reasoning
 * fields become reasoning blocks, which no store keeps.
 * @throws InvalidInputError naming the message, as in `messages[3].role`, for an unknown role or what is no JSON.
 */
export function fromOpenAI(messages: Iterable<object>): Message[] {
  return Array.from(checkIterable(messages, "messages"), (message, index) =>
    readOne(message, `messages[${index}]`),
  );
}

/**
 * The same without ids and times. Give these to `session.checkpoint` when a run hands back its whole history: messages
 * that are stored already keep their ids, where fresh ids would make every checkpoint a replace.
 */
export function inputsFromOpenAI(messages: Iterable<object>): MessageInput[] {
  return fromOpenAI(messages).map(({ role, content, metadata }) => ({ role, content, metadata }));
}

/**
 * Our messages in the chat completions format. Messages that came from there are exactly what they were; a message of
 * ours with several tool results becomes as many `tool` messages. What the format has no place for is left out: reasoning,
 * ids, times, metadata, and whether a result is an error. It repairs nothing: see `toModelMessages`.
 * @throws InvalidInputError for what is no message.
 */
export function toOpenAI(messages: Iterable<Message | MessageInput>): OpenAIMessage[] {
  return Array.from(checkIterable(messages, "messages")).flatMap((message, index) => {
    const ours = checkMessage(message, `messages[${index}]`);
    return writeForeign(ours) as unknown as OpenAIMessage[];
  });
}

function readOne(given: object, path: string): Message {
  const foreign = copyJsonObject(given, path);
  const { role, content, residue } = readForeign(foreign, path);
  const openai = residue as JsonObject;
  const metadata = Object.keys(openai).length === 0 ? {} : { [RESIDUE_KEY]: openai };
  const message = readMessage({ role, content, metadata }, path, "given");
  const [again, ...others] = writeForeign(message);
  if (again === undefined || others.length > 0) throw invalidInput(path, "cannot be one message");
  const difference = differenceOf(again, foreign);
  if (difference === undefined) return message;
  return rebuildMessage(message, { metadata: freezeJson({ [RESIDUE_KEY]: { ...openai, ...difference } }) });
}

/** The fields to add and to leave out so that `again` becomes the original; undefined when it is the original. */
function differenceOf(again: JsonObject, original: JsonObject): JsonObject | undefined {
  const extra: JsonObject = {};
  for (const [key, value] of Object.entries(original)) {
    if (!Object.hasOwn(again, key) || !jsonEquals(again[key], value)) setKey(extra, key, value);
  }
  const absent = Object.keys(again).filter((key) => !Object.hasOwn(original, key));
  if (absent.length === 0 && Object.keys(extra).length === 0) return undefined;
  return {
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
    ...(absent.length === 0 ? {} : { absent }),
  };
}
