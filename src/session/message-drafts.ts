import { invalidInput } from "../model/errors.ts";
import { nameOf } from "../model/json.ts";
import { isMessage, type Message, type MessageInput, readMessage } from "../model/message.ts";
import { sameContent } from "../model/message-equality.ts";
import { persistableMessage } from "../model/persistable.ts";

/** A message that a caller gave, copied and fit to be stored, and what it left to be filled in. */
interface Draft {
  readonly message: Message;
  /** Given without an id: it takes the stored one's when it says the same at the same place (M8). */
  readonly unnamed: boolean;
  /** Given without a time: with the id of the stored one and the same to say, it is the stored one. */
  readonly undated: boolean;
}

/**
 * What a caller gave, copied at the time of the call and filtered (S9, S10); which of it is already stored is settled
 * later, when the stored messages are known.
 */
export class MessageDrafts {
  readonly #drafts: readonly Draft[];

  /**
   * @param known messages that are stored, as far as they are known: given again, they need no second look.
   * @throws InvalidInputError that names the message, as in `messages[2].content[0].text`.
   */
  constructor(given: unknown, known: readonly Message[] = []) {
    const drafts: Draft[] = [];
    let index = 0;
    for (const one of iterate(given, "messages")) {
      const made = isMessage(one);
      const message =
        made && one === known[drafts.length]
          ? one
          : persistableMessage(readMessage(one, `messages[${index}]`, "given"));
      index += 1;
      if (message === undefined) continue;
      const fields = one as MessageInput;
      drafts.push({
        message,
        unnamed: !made && fields.id === undefined,
        undated: !made && fields.createdAt === undefined,
      });
    }
    this.#drafts = drafts;
  }

  /** The messages to write over or to compare with `stored`: what says the same at the same place is the stored one. */
  settle(stored: readonly Message[]): readonly Message[] {
    return this.#drafts.map(({ message, unnamed, undated }, index) => {
      const twin = stored[index];
      if (twin === undefined || twin === message || !(unnamed || undated)) return message;
      return (unnamed || message.id === twin.id) && sameContent(message, twin) ? twin : message;
    });
  }

  /** The messages to add behind what is stored. */
  get messages(): readonly Message[] {
    return this.#drafts.map(({ message }) => message);
  }
}

/** A list of messages as they are, copied and checked. @throws InvalidInputError that names the one at fault. */
export function readList(given: unknown, path: string): readonly Message[] {
  return [...iterate(given, path)].map((one, index) => readMessage(one, `${path}[${index}]`, "given"));
}

function iterate(given: unknown, path: string): Iterable<unknown> {
  if (typeof given === "object" && given !== null && Symbol.iterator in given)
    return given as Iterable<unknown>;
  throw invalidInput(path, `must be a list of messages, not ${nameOf(given)}`);
}
