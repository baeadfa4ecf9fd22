import { FAULTS, type FaultCode } from "../wire/fault.ts";
import type { Channel, ChannelEvents } from "./link-channels.ts";

/** Of the WebSocket standard: nobody said why it ended, and something went wrong over there. */
const CLOSE_LOST = 1006;
const CLOSE_ERROR = 1011;

const CONNECTING = 0;
const OPEN = 1;
const CLOSED = 3;

export interface VirtualSocketOptions {
  /** Opens a channel; undefined while there is no connection. */
  readonly open: (events: ChannelEvents) => Channel | undefined;
  /** Each message, before it leaves. */
  readonly leaving: (message: Uint8Array) => void;
  /** The channel was closed for a reason. Told after the socket's own close event. */
  readonly refused: (code: FaultCode) => void;
}

/**
 * A class of WebSockets that are channels of a shared connection: as much of the standard as y-websocket uses. One is
 * open when the relay has opened its channel, and closed with 1006 when the connection is gone.
 */
export function virtualSocketClass(options: VirtualSocketOptions): new () => VirtualSocket {
  return class extends VirtualSocket {
    constructor() {
      super(options);
    }
  };
}

export class VirtualSocket {
  readonly CONNECTING = CONNECTING;
  readonly OPEN = OPEN;
  readonly CLOSED = CLOSED;
  binaryType = "arraybuffer";
  onopen: ((event: unknown) => void) | null = null;
  onmessage: ((event: { readonly data: ArrayBuffer }) => void) | null = null;
  onclose: ((event: { readonly code: number; readonly reason: string }) => void) | null = null;
  onerror: ((event: unknown) => void) | null = null;
  readonly #options: VirtualSocketOptions;
  readonly #channel: Channel | undefined;
  #readyState = CONNECTING;

  constructor(options: VirtualSocketOptions) {
    this.#options = options;
    this.#channel = options.open({
      opened: () => {
        if (this.#readyState !== CONNECTING) return;
        this.#readyState = OPEN;
        this.onopen?.({ type: "open" });
      },
      received: (message) => {
        if (this.#readyState === OPEN) this.onmessage?.({ data: message.slice().buffer });
      },
      closed: (code) => this.#ended(code),
    });
    // Its owner has not yet said who listens.
    if (this.#channel === undefined) void Promise.resolve().then(() => this.#ended(undefined));
  }

  get readyState(): number {
    return this.#readyState;
  }

  send(message: Uint8Array): void {
    if (this.#readyState !== OPEN) return;
    this.#options.leaving(message);
    this.#channel?.send(message);
  }

  close(): void {
    if (this.#readyState === CLOSED) return;
    this.#readyState = CLOSED;
    this.#channel?.close();
  }

  #ended(code: FaultCode | undefined): void {
    if (this.#readyState === CLOSED) return;
    this.#readyState = CLOSED;
    const closeCode = code === undefined ? CLOSE_LOST : (FAULTS[code].close ?? CLOSE_ERROR);
    this.onclose?.({ code: closeCode, reason: code ?? "" });
    if (code !== undefined) this.#options.refused(code);
  }
}
