import { checkIterable } from "../model/iterable.ts";
import { checkMessage, isMessage, type Message, type MessageInput } from "../model/message.ts";
import { messageEquals, sameContent } from "../model/message-equality.ts";
import { persistableMessage } from "../model/persistable.ts";

/** A message that a caller gave, copied and fit to be stored, and what it left to be filled in. */
interface Draft {
  readonly message: Message;
  /** Given without an id: it takes the stored one's when it says the same at the same place (M8). */
  readonly unnamed: boolean;
  /** Given without a time: with the id of the stored one and the same to say, it is the stored one. */
  readonly undated: boolean;
}

/** Messages that a caller gave, compared with those that are stored. */
export interface Compared {
  /** How many messages, from the first on, are the stored ones. */
  readonly unchanged: number;
  /** What was given from a place on. What says the same as the stored message at its place is that message (M8). */
  readonly from: (place: number) => readonly Message[];
}

/**
 * What a caller gave, copied at the time of the call and filtered (S9, S10); which of it is already stored is settled
 * later, when the stored messages are known. Messages that were handed out before and come back cost a comparison each.
 */
export class MessageDrafts {
  /** Messages that were known to be stored at the time of the call; the first `#same` of those given are these. */
  readonly #known: readonly Message[];
  readonly #same: number;
  readonly #drafts: readonly Draft[];

  /**
   * @param known messages that are stored, as far as they are known: given again, they need no second look.
   * @throws InvalidInputError that names the message, as in `messages[2].content[0].text`.
   */
  constructor(given: Iterable<Message | MessageInput>, known: readonly Message[] = []) {
    const list: readonly (Message | MessageInput)[] = [...checkIterable(given, "messages")];
    let same = 0;
    while (same < known.length && list[same] === known[same]) same += 1;
    this.#known = known;
    this.#same = same;
    this.#drafts = draftsOf(list, same);
  }

  /** All messages, to be added behind what is stored. */
  get messages(): readonly Message[] {
    return this.over([]).from(0);
  }

  /** The messages to write over `stored`, or to add behind it where they begin with all of it. */
  over(stored: readonly Message[]): Compared {
    const drafted = this.#drafts.map((draft, index) => settled(draft, stored[this.#same + index]));
    const count = this.#same + drafted.length;
    const at = (place: number): Message | undefined =>
      place < this.#same ? this.#known[place] : drafted[place - this.#same];
    let unchanged = stored === this.#known ? this.#same : 0;
    for (; unchanged < count; unchanged += 1) {
      const [message, other] = [at(unchanged), stored[unchanged]];
      if (message === undefined || other === undefined || !messageEquals(message, other)) break;
    }
    const from = (place: number): readonly Message[] =>
      place >= this.#same
        ? drafted.slice(place - this.#same)
        : this.#known.slice(place, this.#same).concat(drafted);
    return { unchanged, from };
  }
}

function draftsOf(list: readonly (Message | MessageInput)[], from: number): Draft[] {
  const drafts: Draft[] = [];
  for (let index = from; index < list.length; index += 1) {
    const given = list[index] as Message | MessageInput;
    const message = persistableMessage(checkMessage(given, `messages[${index}]`));
    if (message === undefined) continue;
    const made = isMessage(given);
    drafts.push({
      message,
      unnamed: !made && given.id === undefined,
      undated: !made && given.createdAt === undefined,
    });
  }
  return drafts;
}

function settled({ message, unnamed, undated }: Draft, twin: Message | undefined): Message {
  if (twin === undefined || twin === message || !(unnamed || undated)) return message;
  return (unnamed || message.id === twin.id) && sameContent(message, twin) ? twin : message;
}

/** A list of messages as they are, copied and checked. @throws InvalidInputError that names the one at fault. */
export function readList(given: Iterable<Message | MessageInput>, path: string): readonly Message[] {
  return Array.from(checkIterable(given, path), (one, index) => checkMessage(one, `${path}[${index}]`));
}
