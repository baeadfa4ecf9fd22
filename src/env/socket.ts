/** One open or opening socket. Sending on a closed socket is ignored, as browsers do. */
export interface Socket {
  send(data: string | Uint8Array): void;
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
