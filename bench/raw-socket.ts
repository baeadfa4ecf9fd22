import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";

/**
 * A WebSocket client that does next to nothing, so that the load generator stays cheaper than the server it loads:
 * frames are masked with zeros (allowed, and no work), and received ones are handed on as bytes.
 */
export interface RawSocket {
  send(text: string): void;
  /** Bytes of payload received so far. */
  readonly receivedBytes: number;
  close(): void;
}

export function openRawSocket(
  port: number,
  path: string,
  receive: (payload: Buffer) => void,
): Promise<RawSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    socket.setNoDelay(true);
    socket.once("error", reject);
    let buffered: Buffer = Buffer.alloc(0);
    let upgraded = false;
    let receivedBytes = 0;
    let corked = false;

    const raw: RawSocket = {
      get receivedBytes() {
        return receivedBytes;
      },
      send(text) {
        // What one turn sends leaves in one write.
        if (!corked) {
          corked = true;
          socket.cork();
          setImmediate(() => {
            corked = false;
            socket.uncork();
          });
        }
        writeFrame(socket, 0x81, Buffer.from(text));
      },
      close: () => socket.destroy(),
    };

    socket.on("data", (bytes) => {
      buffered = buffered.length === 0 ? bytes : Buffer.concat([buffered, bytes]);
      if (!upgraded) {
        const end = buffered.indexOf("\r\n\r\n");
        if (end < 0) return;
        if (!buffered.subarray(0, 12).equals(Buffer.from("HTTP/1.1 101"))) {
          reject(new Error(buffered.subarray(0, end).toString()));
          return;
        }
        buffered = buffered.subarray(end + 4);
        upgraded = true;
        resolve(raw);
      }
      let at = 0;
      for (;;) {
        const frame = readFrame(buffered, at);
        if (frame === undefined) break;
        at = frame.end;
        if (frame.opcode === 9) writeFrame(socket, 0x8a, frame.payload);
        else if (frame.opcode === 1) {
          receivedBytes += frame.payload.length;
          receive(frame.payload);
        } else if (frame.opcode === 8) receive(Buffer.from(`closed ${frame.payload.subarray(2)}`));
      }
      buffered = buffered.subarray(at);
    });
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString("base64")}\r\n\r\n`,
    );
  });
}

function writeFrame(socket: Socket, first: number, payload: Buffer): void {
  const wide = payload.length > 0xffff;
  const medium = !wide && payload.length > 125;
  const head = Buffer.alloc(2 + (wide ? 8 : medium ? 2 : 0) + 4);
  head[0] = first;
  head[1] = 0x80 | (wide ? 127 : medium ? 126 : payload.length);
  if (wide) head.writeBigUInt64BE(BigInt(payload.length), 2);
  else if (medium) head.writeUInt16BE(payload.length, 2);
  socket.write(head);
  socket.write(payload);
}

function readFrame(bytes: Buffer, at: number): { opcode: number; payload: Buffer; end: number } | undefined {
  if (bytes.length < at + 2) return undefined;
  const length = (bytes[at + 1] ?? 0) & 0x7f;
  const body = at + (length === 127 ? 10 : length === 126 ? 4 : 2);
  if (bytes.length < body) return undefined;
  const size =
    length === 127
      ? Number(bytes.readBigUInt64BE(at + 2))
      : length === 126
        ? bytes.readUInt16BE(at + 2)
        : length;
  if (bytes.length < body + size) return undefined;
  return { opcode: (bytes[at] ?? 0) & 0x0f, payload: bytes.subarray(body, body + size), end: body + size };
}
