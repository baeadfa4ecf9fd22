import type { TabChannel, Tabs } from "../env/tabs.ts";
import type { Welcome } from "../wire/hello.ts";
import type { Stream } from "../wire/stream.ts";
import type { Link } from "./link.ts";
import type { LinkFrame } from "./link-events.ts";
import { type StreamWord, streamChannelOf } from "./stream-words.ts";

/**
 * Carries messages in the making between the tabs of this browser and the relay (rules P70–P78). It holds no text: what
 * the relay lacks the tab that writes is asked for, and what a tab lacks, the relay.
 */
export class StreamBridge {
  readonly #link: Link;
  readonly #channel: TabChannel;
  readonly #leave: () => void;
  /** Streams of these tabs, and how much of each was sent. */
  readonly #sent = new Map<string, number>();
  /** Those of them that this connection has spoken of. */
  readonly #named = new Set<string>();
  /** Those that the relay does not carry on this connection. */
  readonly #refused = new Set<string>();
  /** Streams of other devices. */
  readonly #afar = new Set<string>();
  /** The relay of this connection reads frames of streams. */
  #carried = false;

  constructor({ link, tabs, name }: { readonly link: Link; readonly tabs: Tabs; readonly name: string }) {
    this.#link = link;
    this.#channel = tabs.channel(streamChannelOf(name), (data) => this.#said(data as StreamWord));
    this.#leave = link.watch({
      online: (welcome) => this.#online(welcome),
      offline: () => {
        this.#carried = false;
      },
      frame: (frame) => this.#received(frame),
    });
  }

  close(): void {
    this.#leave();
    this.#channel.close();
  }

  #online({ streams = false }: Welcome): void {
    this.#carried = streams;
    this.#named.clear();
    this.#refused.clear();
    if (!streams) return;
    this.#link.send({ type: "stream-ask" });
    this.#tell({ say: "ask", id: undefined, afar: true });
  }

  /** A word of a tab. What came from the relay the tab that holds the other end has told already. */
  #said(word: StreamWord): void {
    if (!this.#carried || word.afar === true) return;
    switch (word.say) {
      case "piece":
        this.#send(word);
        break;
      case "end": {
        const { id, session, kept } = word;
        this.#refused.delete(id);
        this.#named.delete(id);
        if (this.#sent.delete(id) || this.#afar.delete(id))
          this.#link.send({ type: "stream-end", id, session, kept });
        break;
      }
      case "ask":
        if (word.id === undefined) this.#link.send({ type: "stream-ask" });
        else if (this.#afar.has(word.id)) this.#link.send({ type: "stream-ask", id: word.id, from: 0 });
        break;
    }
  }

  #send({ session, incarnation, stream, at, text }: Extract<StreamWord, { say: "piece" }>): void {
    const { id, runId } = stream;
    if (this.#refused.has(id)) return;
    // A tab that answers another one's question says again what was sent.
    const from = Math.max(at, Math.min(this.#sent.get(id) ?? at, at + text.length));
    const rest = text.slice(from - at);
    if (rest === "" && text !== "" && this.#named.has(id)) return;
    // The roles of streams are those that are text and are stored.
    const role = stream.role as Stream["role"];
    const named = { type: "stream", id, session, incarnation, role } as const;
    const piece = { at: from, text: rest };
    this.#link.send(runId === undefined ? { ...named, ...piece } : { ...named, runId, ...piece });
    this.#named.add(id);
    this.#sent.set(id, from + rest.length);
  }

  #received(frame: LinkFrame): void {
    switch (frame.type) {
      case "stream": {
        const { id, session, incarnation, role, runId, at, text } = frame;
        this.#afar.add(id);
        this.#tell({ say: "piece", session, incarnation, stream: { id, role, runId }, at, text, afar: true });
        break;
      }
      case "stream-end":
        this.#afar.delete(frame.id);
        this.#tell({ say: "end", session: frame.session, id: frame.id, kept: frame.kept, afar: true });
        break;
      case "stream-ask":
        if (frame.id === undefined) break;
        this.#sent.set(frame.id, frame.from ?? 0);
        this.#tell({ say: "ask", id: frame.id, afar: true });
        break;
      case "stream-refused":
        this.#refused.add(frame.id);
        this.#sent.delete(frame.id);
        this.#tell({ say: "refused", id: frame.id, code: frame.code, afar: true });
        break;
      default:
        break;
    }
  }

  #tell(word: StreamWord): void {
    this.#channel.post(word);
  }
}
