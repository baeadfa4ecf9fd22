// The limit that the relay is measured against: expected count, one commit for each turn of the event loop,
// acknowledgement after the commit, fan-out to one subscriber, JSON frames, SQLite WAL. No authentication, no schemas,
// no state, no retries: nothing that could be taken away. Usage: relay.ts <folder> <FULL|NORMAL>
import type { Socket } from "node:net";
import { join } from "node:path";
import { type WebSocket, WebSocketServer } from "ws";
import { openSqlite } from "./sqlite.ts";

interface Append {
  readonly type: "append";
  readonly session: string;
  readonly expected: number;
  readonly messages: readonly unknown[];
}
type Frame =
  | Append
  | { readonly type: "subscribe"; readonly session: string }
  | { readonly type: "pull"; readonly session: string; readonly from: number };

const pageMessages = 500;
const [folder = ".", synchronous = "FULL"] = process.argv.slice(2);
const database = openSqlite(join(folder, "ref.db"));
database.exec(`PRAGMA journal_mode=WAL; PRAGMA synchronous=${synchronous}`);
database.exec("CREATE TABLE IF NOT EXISTS log (session TEXT, position INTEGER, body TEXT)");
database.exec("CREATE UNIQUE INDEX IF NOT EXISTS log_position ON log (session, position)");
const insert = database.prepare("INSERT INTO log VALUES (?, ?, ?)");
const last = database.prepare("SELECT max(position) + 1 AS count FROM log WHERE session = ?");
const read = database.prepare(
  "SELECT body FROM log WHERE session = ? AND position >= ? ORDER BY position LIMIT ?",
);

const counts = new Map<string, number>();
const subscribers = new Map<string, WebSocket>();
const lines = new Map<WebSocket, Socket>();
let waiting: { socket: WebSocket; frame: Append }[] = [];

function countOf(session: string): number {
  const known = counts.get(session) ?? (last.all(session)[0] as { count: number | null }).count ?? 0;
  counts.set(session, known);
  return known;
}

function commit(): void {
  const group = waiting;
  waiting = [];
  const answers: [WebSocket, string][] = [];
  database.exec("BEGIN IMMEDIATE");
  for (const { socket, frame } of group) {
    const count = countOf(frame.session);
    if (count !== frame.expected) {
      answers.push([socket, JSON.stringify({ type: "refused", count })]);
      continue;
    }
    for (const [index, message] of frame.messages.entries())
      insert.run(frame.session, count + index, JSON.stringify(message));
    counts.set(frame.session, count + frame.messages.length);
    answers.push([socket, JSON.stringify({ type: "ack", count: count + frame.messages.length })]);
    const subscriber = subscribers.get(frame.session);
    if (subscriber !== undefined)
      answers.push([subscriber, JSON.stringify({ type: "push", start: count, messages: frame.messages })]);
  }
  database.exec("COMMIT");
  // All that one commit says to one socket leaves in one write.
  for (const [socket] of answers) lines.get(socket)?.cork();
  for (const [socket, text] of answers) socket.send(text);
  for (const [socket] of answers) lines.get(socket)?.uncork();
}

function sendPages(socket: WebSocket, session: string, from: number): void {
  for (let at = from; ; at += pageMessages) {
    const rows = read.all(session, at, pageMessages) as { body: string }[];
    const more = at + rows.length < countOf(session);
    socket.send(
      `{"type":"page","start":${at},"more":${more},"messages":[${rows.map(({ body }) => body).join(",")}]}`,
    );
    if (!more) return;
  }
}

const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false });
server.on("connection", (socket, request) => {
  lines.set(socket, request.socket);
  socket.on("message", (data) => {
    const frame = JSON.parse(String(data)) as Frame;
    if (frame.type === "subscribe") {
      subscribers.set(frame.session, socket);
      socket.send('{"type":"welcome"}');
    } else if (frame.type === "pull") sendPages(socket, frame.session, frame.from);
    else if (waiting.push({ socket, frame }) === 1) setImmediate(commit);
  });
});
server.on("listening", () => {
  const address = server.address();
  if (typeof address === "object" && address !== null) console.log(`ws://127.0.0.1:${address.port}`);
});
