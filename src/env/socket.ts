/** One open or opening socket. Sending before it is open or after it is closed is ignored. Nothing here throws. */
export interface Socket {
  send(data: string | Uint8Array): void;
  /** Asks for the end; `closed` follows, where the other side is out of reach only after a long while. */
  close(code?: number, reason?: string): void;
  /** Bytes handed to `send` that have not left yet. */
  readonly bufferedBytes: number;
}

export interface SocketEvents {
  opened(): void;
  received(data: string | Uint8Array): void;
  /** Exactly once, also when the connection could not be made; nothing follows it. */
  closed(code: number, reason: string): void;
}

/** Makes sockets. Events never fire before `connect` has returned. */
export interface Sockets {
  connect(url: string, events: SocketEvents): Socket;
}

/** A class of sockets: the platform's own `WebSocket`, or that of `ws` where a platform has none. */
export type WebSocketClass = new (url: string) => { close(code?: number, reason?: string): void };
