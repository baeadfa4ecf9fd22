import { ProtocolError } from "../model/errors.ts";
import { copyJsonObject, freezeJson, nameOf } from "../model/json.ts";
import { isMessage, type Message, readMessage } from "../model/message.ts";
import type { Damage, Revision, Snapshot } from "../model/snapshot.ts";

/**
 * What a store answered, checked and frozen through and through (S11); undefined for "no such session".
 * @param known messages that were checked before: where the answer has the same ones, they need no second look.
 * @throws ProtocolError "Session store returned an invalid value: …"
 */
export function checkedSnapshot(answer: unknown, known: readonly Message[] = []): Snapshot | undefined {
  if (answer === undefined || answer === null) return undefined;
  try {
    return readSnapshot(answer, known);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new ProtocolError(`Session store returned an invalid value: ${problem}`, { cause: error });
  }
}

/** {@link checkedSnapshot} of an answer to a write, where "no such session" is no answer. */
export function checkedWritten(answer: unknown, known: readonly Message[]): Snapshot {
  const snapshot = checkedSnapshot(answer, known);
  if (snapshot !== undefined) return snapshot;
  throw new ProtocolError(`Session store returned an invalid value: ${nameOf(answer)} in answer to a write`);
}

function readSnapshot(answer: object, known: readonly Message[]): Snapshot {
  if (typeof answer !== "object" || Array.isArray(answer)) {
    throw new TypeError(`snapshot must be an object, not ${nameOf(answer)}`);
  }
  const { messages, state, metadata, revision, damaged } = answer as { [Field in keyof Snapshot]?: unknown };
  const list = readMessages(messages, known);
  const read = readRevision(revision);
  if (read.count !== list.length) {
    throw new TypeError(`revision.count is ${read.count} where there are ${list.length} messages`);
  }
  return Object.freeze({
    messages: list,
    state: freezeJson(copyJsonObject(state, "state")),
    metadata: freezeJson(copyJsonObject(metadata, "metadata")),
    revision: read,
    ...(damaged === undefined ? {} : { damaged: readDamaged(damaged) }),
  });
}

function readMessages(given: unknown, known: readonly Message[]): readonly Message[] {
  if (given === known) return known;
  if (!Array.isArray(given)) throw new TypeError(`messages must be an array, not ${nameOf(given)}`);
  const answered: readonly unknown[] = given;
  let at = 0;
  while (at < known.length && answered[at] === known[at]) at += 1;
  while (at < answered.length && isMessage(answered[at])) at += 1;
  // A frozen list of messages that were made here is taken as it is: nobody can change it any more.
  if (at === answered.length && Object.isFrozen(answered)) return answered as readonly Message[];
  return Object.freeze(Array.from(answered, readOne));
}

function readOne(message: unknown, index: number): Message {
  if (isMessage(message)) return message;
  const fields = message as { readonly id?: unknown; readonly createdAt?: unknown } | null | undefined;
  // A stored message has both; without them each load would make up others.
  if (fields?.id === undefined || fields.createdAt === undefined) {
    throw new TypeError(`messages[${index}] must be a message with an id and a time`);
  }
  return readMessage(message, `messages[${index}]`, "given");
}

function readRevision(given: unknown): Revision {
  const { generation, count } = readObject(given, "revision");
  return Object.freeze({
    generation: readCount(generation, "revision.generation"),
    count: readCount(count, "revision.count"),
  });
}

function readDamaged(given: unknown): readonly Damage[] {
  if (!Array.isArray(given)) throw new TypeError(`damaged must be an array, not ${nameOf(given)}`);
  return Object.freeze(
    given.map((one: unknown, at) => {
      const { index, reason } = readObject(one, `damaged[${at}]`);
      if (!Number.isInteger(index) || typeof reason !== "string") {
        throw new TypeError(`damaged[${at}] must be an index and a reason`);
      }
      return Object.freeze({ index: index as number, reason });
    }),
  );
}

function readObject(given: unknown, path: string): { readonly [key: string]: unknown } {
  if (typeof given === "object" && given !== null) return given as { readonly [key: string]: unknown };
  throw new TypeError(`${path} must be an object, not ${nameOf(given)}`);
}

function readCount(given: unknown, path: string): number {
  if (Number.isSafeInteger(given) && (given as number) >= 0) return given as number;
  throw new TypeError(`${path} must be a whole number from 0`);
}
