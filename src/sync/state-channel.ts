import { readVarUint } from "lib0/decoding";
import type { Awareness } from "y-protocols/awareness";
import { messageYjsSyncStep2, messageYjsUpdate } from "y-protocols/sync";
import { WebsocketProvider } from "y-websocket";
import type { Doc } from "yjs";
import { ProtocolError } from "../model/errors.ts";
import { CHANNEL_MESSAGE } from "../wire/channel.ts";
import type { FaultCode } from "../wire/fault.ts";
import type { LinkChannels } from "./link-channels.ts";
import { virtualSocketClass } from "./virtual-socket.ts";

export interface StateChannelOptions {
  readonly doc: Doc;
  readonly awareness: Awareness;
  readonly session: string;
  readonly incarnation: string;
  readonly channels: LinkChannels;
  /** The last local change that the document holds; asked whenever something is about to leave. */
  readonly position: () => number;
  /** The relay has committed every change up to this position (P52). */
  readonly onDurable: (position: number) => void;
  /** The relay closed the channel, or what was to leave is too large. A lost connection is not told. */
  readonly onClosed: (code: FaultCode) => void;
  /** The document holds what the relay held. Says nothing of what the relay holds. */
  readonly onSynced?: (() => void) | undefined;
}

/**
 * One session's state and presence over a channel of the link: y-websocket's provider, unchanged, over a virtual
 * socket. When to connect is the owner's to say, each time the link is online: nothing here tries again by itself.
 */
export class StateChannel {
  readonly #options: StateChannelOptions;
  readonly #provider: WebsocketProvider;
  /** Messages that carry updates and left on the present channel. */
  #sent = 0;
  /** Step 2 has left on it. */
  #whole = false;
  /** What the relay has once it has committed that many of them. */
  #claims: { readonly sent: number; readonly position: number }[] = [];

  constructor(options: StateChannelOptions) {
    const { doc, awareness, session, incarnation, channels } = options;
    this.#options = options;
    const Socket = virtualSocketClass({
      open: (events) => channels.open({ session, incarnation }, events),
      leaving: (message) => this.#count(message),
      refused: (code) => options.onClosed(code),
    });
    // The address goes nowhere, so it names nothing.
    this.#provider = new WebsocketProvider("channel:", "state", doc, {
      awareness,
      connect: false,
      disableBc: true,
      // The link alone decides when there is a connection. A wait of 0 ms makes the provider's own attempt, which then finds
      // that it shall not connect, leave no timer behind.
      shouldReconnect: () => false,
      maxBackoffTime: 0,
      WebSocketPolyfill: Socket as unknown as Polyfill,
    });
    stopOwnWatch(this.#provider);
    this.#provider.messageHandlers[CHANNEL_MESSAGE.durable] = (_encoder, decoder) => {
      this.#confirm(readVarUint(decoder));
    };
    this.#provider.on("status", ({ status }) => {
      if (status === "connected") announce(awareness);
    });
    this.#provider.on("sync", (synced: boolean) => {
      if (synced) options.onSynced?.();
    });
  }

  /** The origin of transactions that came from the relay. */
  get origin(): object {
    return this.#provider;
  }

  /** `open` once the relay has opened the channel. */
  get phase(): "closed" | "opening" | "open" {
    if (this.#provider.ws === null) return "closed";
    return this.#provider.wsconnected ? "open" : "opening";
  }

  get synced(): boolean {
    return this.#provider.synced;
  }

  /** Opens a channel on the link's connection. Without one, or when it ends, the phase is `closed` again. */
  connect(): void {
    if (this.#provider.ws !== null) return;
    this.#sent = 0;
    this.#whole = false;
    this.#claims = [];
    this.#provider.connect();
  }

  /** Closes the channel; others see this client's presence leave. */
  disconnect(): void {
    this.#provider.disconnect();
  }

  /** For good. The document and the awareness stay their owner's. */
  destroy(): void {
    this.#provider.destroy();
  }

  #count(message: Uint8Array): void {
    const [type, kind] = message;
    if (type !== CHANNEL_MESSAGE.sync) return;
    if (kind !== messageYjsSyncStep2 && kind !== messageYjsUpdate) return;
    this.#sent += 1;
    // Only step 2 brings everything that the relay lacks: a lone update before it says nothing of older changes.
    if (kind === messageYjsSyncStep2) this.#whole = true;
    if (!this.#whole) return;
    this.#claims.push({ sent: this.#sent, position: this.#options.position() });
  }

  #confirm(committed: number): void {
    if (committed > this.#sent) {
      throw new ProtocolError(
        `The relay has committed ${committed} changes of state where ${this.#sent} were sent`,
      );
    }
    let reached: number | undefined;
    while (this.#claims[0] !== undefined && this.#claims[0].sent <= committed) {
      reached = this.#claims.shift()?.position;
    }
    if (reached !== undefined) this.#options.onDurable(reached);
  }
}

/** Says who is here on a channel that has just opened. */
function announce(awareness: Awareness): void {
  // Where an earlier connection ended, others were told that this client left, one clock ahead of what they had heard.
  const own = awareness.getLocalState();
  for (let behind = 2; own !== null && behind > 0; behind -= 1) awareness.setLocalState(own);
  // The provider announces this tab alone; it speaks for the others of its browser, too.
  const updated = [...awareness.getStates().keys()].filter((client) => client !== awareness.clientID);
  if (updated.length > 0) awareness.emit("update", [{ added: [], updated, removed: [] }, "announced"]);
}

type Polyfill = NonNullable<
  NonNullable<ConstructorParameters<typeof WebsocketProvider>[3]>["WebSocketPolyfill"]
>;

/**
 * The provider watches its socket with a timer of its own and closes it after 30 s without a message; and it says
 * good-bye when a Node process ends. Here the link watches the one real connection, a quiet document is no dead one,
 * and one timer and one process listener for each open session would be too many.
 */
function stopOwnWatch(provider: WebsocketProvider): void {
  clearInterval(provider._checkInterval);
  const { process } = globalThis as { process?: { off?: (event: string, listener: () => void) => void } };
  process?.off?.("exit", provider._exitHandler);
}
