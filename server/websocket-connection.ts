import type { Socket as NetSocket } from "node:net";
import { WebSocket } from "ws";
import { endOfTurn } from "./node-env.ts";
import type { Connection } from "./relay-services.ts";

/** The code that ws closes with when a frame is over its limit. */
const MESSAGE_TOO_BIG = 1009;

/** A socket that lets the relay say which limit a frame passed before it closes (rule P10). */
export class RelaySocket extends WebSocket {
  tooLarge: (() => void) | undefined;

  override close(code?: number, data?: string | Buffer): void {
    const { tooLarge } = this;
    if (code === MESSAGE_TOO_BIG && tooLarge !== undefined) {
      this.tooLarge = undefined;
      tooLarge();
    } else super.close(code, data);
  }
}

/** A WebSocket as the relay's core uses it. Everything that is sent in one turn leaves in one write. */
export function connectionOf(
  socket: RelaySocket,
  wire: NetSocket,
  hears: { readonly admitted: () => void },
): Connection {
  let corked = false;
  return {
    admitted: hears.admitted,
    send: (data) => {
      if (socket.readyState !== WebSocket.OPEN) return;
      if (!corked) {
        corked = true;
        wire.cork();
        endOfTurn(() => {
          corked = false;
          wire.uncork();
        });
      }
      socket.send(data);
    },
    close: (code, reason) => {
      // Whoever was told why and still sends is not listened to.
      socket.removeAllListeners("message");
      socket.close(code, reason);
    },
    get bufferedBytes() {
      return socket.bufferedAmount;
    },
    pause: () => {
      if (socket.readyState === WebSocket.OPEN) socket.pause();
    },
    resume: () => {
      if (socket.readyState === WebSocket.OPEN) socket.resume();
    },
  };
}
