import type { Absent, Refused, StateLoaded } from "../storage/contract.ts";
import { type Member, Members } from "./members.ts";
import { answerMessage, askMessage, presenceMessage, readChannelMessage, updateMessage } from "./messages.ts";
import { save } from "./saving.ts";
import type { ChannelHost, Ending, Seat } from "./seat.ts";
import { StateDocument } from "./state-document.ts";
import { takeUpdate } from "./taking.ts";

type Item = { readonly member: Member } & (
  | { readonly says: "greet" }
  | { readonly says: "ask"; readonly vector: Uint8Array }
  | { readonly says: "bring"; readonly update: Uint8Array }
);

/** An update that was taken into the document, and what of it is new. */
interface Taken {
  readonly member: Member;
  readonly update: Uint8Array;
  readonly news: readonly Uint8Array[];
}

interface Open {
  readonly document: StateDocument;
  readonly incarnation: string;
}
type Phase =
  | { readonly at: "loading" }
  | ({ readonly at: "open" } & Open)
  /** Taking messages in: the document is ahead of storage by a batch that is not handed on yet. */
  | ({ readonly at: "taking" } & Open)
  | ({ readonly at: "saving"; readonly cancel: () => void } & Open)
  | { readonly at: "over" };

const MAX_BATCH = 64;

/**
 * The state and presence of one session while somebody has it open (rules P50–P55). The document holds what storage
 * holds, and while a save is under way what is being saved; nobody is told of the latter before it is stored.
 */
export class StateChannel {
  readonly #host: ChannelHost;
  readonly #members: Members;
  #phase: Phase = { at: "loading" };
  #queue: Item[] = [];
  /** Stored while the document was loading. */
  #late: Uint8Array[] = [];
  #batchLimit = MAX_BATCH;

  constructor(host: ChannelHost) {
    this.#host = host;
    this.#members = new Members({
      maxPresenceBytes: host.maxPresenceBytes,
      passPresence: (update) => {
        if ("incarnation" in this.#phase) host.passPresence(this.#phase.incarnation, update);
      },
    });
    this.#load();
  }

  /** Whether something came in that is not stored yet. */
  get unsaved(): boolean {
    const { at } = this.#phase;
    return at === "taking" || at === "saving" || this.#queue.some(({ says }) => says === "bring");
  }

  join(seat: Seat): void {
    const member = this.#members.add(seat);
    if (!("document" in this.#phase)) return;
    this.#open(member, this.#phase);
    this.#advance();
  }

  leave(seat: Seat): void {
    if (this.#members.remove(seat)) this.#closeWhenEmpty();
  }

  received(seat: Seat, bytes: Uint8Array): void {
    const member = this.#members.get(seat);
    if (member === undefined || this.#phase.at === "over") return;
    const message = readChannelMessage(bytes);
    if (message?.says === "ask" || message?.says === "bring") {
      this.#queue.push({ member, ...message });
      if (message.says === "bring") member.queuedBytes += message.update.byteLength;
      if (member.queuedBytes > this.#host.maxQueuedBytes) {
        this.#dismiss(seat, { code: "try-again", message: "More came in than could be stored" });
      }
      this.#advance();
    } else if (message?.says === "presence") {
      const problem = this.#members.takePresence(seat, message.update);
      if (problem !== undefined) this.#dismiss(seat, problem);
    } else if (message?.says === "ask-presence") {
      this.#members.tellEveryone(seat);
    } else {
      this.#dismiss(seat, { code: "malformed", message: "Not a message of the y-websocket protocol" });
    }
  }

  /** State that is stored already and came another way: by an op, or by another relay process. */
  stored(updates: readonly Uint8Array[]): void {
    if (this.#phase.at === "loading") this.#late.push(...updates);
    if (!("document" in this.#phase)) return;
    this.#phase.document.load(updates);
    for (const update of updates) this.#members.tell(updateMessage(update));
  }

  /** Presence from another relay process. */
  heardPresence(update: Uint8Array): void {
    this.#members.tell(presenceMessage(update));
  }

  /** Everyone out. What is not stored yet stays with those who sent it: it was never acknowledged. */
  end(reason: Ending): void {
    const members = this.#members.all();
    for (const { seat } of members) this.#members.remove(seat);
    this.#close();
    for (const { seat } of members) seat.ended(reason);
  }

  /** Also again, when the document has taken in what storage refused. */
  #load(): void {
    if (this.#phase.at === "over") return;
    if ("document" in this.#phase) this.#phase.document.destroy();
    this.#phase = { at: "loading" };
    this.#host.load().then(
      (loaded) => this.#loaded(loaded),
      (error: unknown) => {
        this.#host.reporter.report("error", "state-load-failed", { error: String(error) });
        if (this.#phase.at !== "loading") return;
        this.end({ code: "try-again", message: "The state could not be read" });
      },
    );
  }

  #loaded(loaded: StateLoaded | Absent): void {
    if (this.#phase.at !== "loading") return;
    if ("absent" in loaded) {
      this.end({ code: loaded.absent, message: "There is no such session" });
      return;
    }
    const document = new StateDocument();
    const damaged = document.load([...loaded.updates, ...this.#late]);
    this.#late = [];
    if (damaged > 0) this.#host.reporter.report("error", "state-damaged", { updates: damaged });
    const opened: Phase = { at: "open", document, incarnation: loaded.incarnation };
    this.#phase = opened;
    for (const member of this.#members.all()) this.#open(member, opened);
    this.#advance();
    this.#closeWhenEmpty();
  }

  #open(member: Member, { incarnation }: Open): void {
    const { seat } = member;
    if (member.opened) return;
    if (seat.incarnation !== null && seat.incarnation !== incarnation) {
      this.#dismiss(seat, { code: "deleted", message: "This life of the session is over" });
      return;
    }
    member.opened = true;
    seat.opened();
    this.#queue.push({ says: "greet", member });
  }

  /** Takes in what has come, until something must be stored first: whatever is told of the document is stored. */
  #advance(): void {
    if (this.#phase.at !== "open") return;
    const open = this.#phase;
    this.#phase = { ...open, at: "taking" };
    const batch: Taken[] = [];
    let usable = true;
    for (let item = this.#queue[0]; item !== undefined && usable; item = this.#queue[0]) {
      if (item.says === "bring") {
        if (batch.length >= this.#batchLimit) break;
        this.#queue.shift();
        const taken = this.#take(item, open.document);
        usable = taken !== "unusable";
        if (typeof taken !== "string") batch.push(taken);
      } else {
        if (batch.some(({ news }) => news.length > 0)) break;
        this.#queue.shift();
        this.#answer(item, open.document);
      }
    }
    if (usable) this.#save(batch, open);
    else {
      this.#requeue(batch);
      this.#load();
    }
  }

  #save(batch: readonly Taken[], open: Open): void {
    const updates = batch.flatMap(({ news }) => news);
    if (updates.length === 0) {
      this.#saved(batch, open);
      return;
    }
    const { incarnation } = open;
    const cancel = save(
      this.#host,
      { incarnation, updates },
      {
        stored: () => this.#saved(batch, open),
        refused: (refused) => this.#notSaved(batch, refused),
      },
    );
    if (this.#phase.at === "taking") this.#phase = { ...open, at: "saving", cancel };
  }

  #saved(batch: readonly Taken[], open: Open): void {
    for (const { member, news } of batch) {
      for (const piece of news) this.#members.tell(updateMessage(piece), member.seat);
    }
    this.#members.acknowledge(batch.map(({ member }) => member));
    this.#phase = { ...open, at: "open" };
    if (this.#queue.length > 0) this.#advance();
    else {
      this.#batchLimit = MAX_BATCH;
      this.#closeWhenEmpty();
    }
  }

  #notSaved(batch: readonly Taken[], refused: Refused): void {
    if (refused.code === "deleted") {
      this.end(refused);
      return;
    }
    // One at a time from here, so that the one that does not fit is found; and from what storage holds.
    this.#batchLimit = 1;
    const [only, ...others] = batch;
    if (only !== undefined && others.length === 0) this.#refuse(only.member, refused);
    else this.#requeue(batch);
    this.#load();
  }

  #take(item: Extract<Item, { says: "bring" }>, document: StateDocument): Taken | "refused" | "unusable" {
    const { member, update } = item;
    member.queuedBytes -= update.byteLength;
    const took = takeUpdate(update, document, this.#host);
    if ("news" in took) return { member, update, news: took.news };
    this.#refuse(member, took.refused);
    return took.unusable ? "unusable" : "refused";
  }

  #answer(item: Exclude<Item, { says: "bring" }>, document: StateDocument): void {
    const { seat } = item.member;
    if (this.#members.get(seat) === undefined) return;
    if (item.says === "greet") {
      seat.send(askMessage(document.vector()));
      this.#members.tellEveryone(seat);
      return;
    }
    try {
      seat.send(answerMessage(document.since(item.vector)));
    } catch {
      this.#dismiss(seat, { code: "malformed", message: "Not a state vector" });
    }
  }

  #requeue(batch: readonly Taken[]): void {
    for (const { member, update } of batch) member.queuedBytes += update.byteLength;
    this.#queue.unshift(...batch.map(({ member, update }) => ({ says: "bring", member, update }) as const));
  }

  /** Out, with all that it still had to say. */
  #refuse(member: Member, reason: Ending): void {
    this.#queue = this.#queue.filter((item) => item.member !== member);
    this.#dismiss(member.seat, reason);
  }

  #dismiss(seat: Seat, { code, message, limit }: Ending): void {
    if (!this.#members.remove(seat)) return;
    seat.ended({ code, message, limit });
    this.#closeWhenEmpty();
  }

  #closeWhenEmpty(): void {
    if (this.#members.size === 0 && !this.unsaved) this.#close();
  }

  #close(): void {
    if (this.#phase.at === "over") return;
    if (this.#phase.at === "saving") this.#phase.cancel();
    if ("document" in this.#phase) this.#phase.document.destroy();
    this.#phase = { at: "over" };
    this.#queue = [];
    this.#host.emptied();
  }
}
