import { openRawSocket, type RawSocket } from "./raw-socket.ts";

/** The frame kinds that the load generator tells apart by their first letter, without parsing. */
type Kind = "ack" | "push" | "page" | "welcome" | "other";

/** One writer's log as its frames name it. The base moves on with every append sent, so that appends can be pipelined. */
export interface Log {
  readonly person: string;
  readonly session: string;
  count: number;
  lastId: string | null;
  incarnation: string | null;
}

/** How to speak to a relay: the limit relay's few words, or the Holdfast protocol. */
export interface Dialect {
  readonly path: string;
  readonly hello: (person: string, session: string) => string;
  readonly append: (log: Log, opId: string, messages: readonly string[], ids: readonly string[]) => string;
  readonly pull: (log: Log, from: number, lastId: string | null) => string;
}

const head = (count: number, lastId: string | null) =>
  `{"generation":0,"count":${count},"lastId":${JSON.stringify(lastId)}}`;
const incarnation = (log: Log) => (log.incarnation === null ? "null" : `"${log.incarnation}"`);

export const dialects: Readonly<Record<"ref" | "ours", Dialect>> = {
  ref: {
    path: "/",
    hello: (_person, session) => `{"type":"subscribe","session":"${session}"}`,
    append: (log, _opId, messages) =>
      `{"type":"append","session":"${log.session}","expected":${log.count},"messages":[${messages.join(",")}]}`,
    pull: (log, from) => `{"type":"pull","session":"${log.session}","from":${from}}`,
  },
  ours: {
    path: "/",
    hello: (person) => `{"type":"hello","protocol":1,"actorId":"${person}","device":"bench"}`,
    append: (log, opId, messages) =>
      `{"type":"append","opId":"${opId}","session":"${log.session}","incarnation":${incarnation(log)},` +
      `"base":${head(log.count, log.lastId)},"messages":[${messages.join(",")}]}`,
    pull: (log, from, lastId) =>
      `{"type":"pull","id":"p${from}","session":"${log.session}","incarnation":${incarnation(log)},` +
      `"have":${from === 0 ? "null" : head(from, lastId)},"stateCursor":0}`,
  },
};

const typeAt = '{"type":"'.length;

export function kindOf(payload: Buffer): Kind {
  const letter = String.fromCharCode(payload[typeAt] ?? 0) + String.fromCharCode(payload[typeAt + 1] ?? 0);
  if (letter === "ac") return "ack";
  if (letter === "pu") return "push";
  if (letter === "pa") return "page";
  return letter === "we" ? "welcome" : "other";
}

/** A connection that has said hello and is welcome. Anything it cannot expect ends the measurement. */
export async function join(
  port: number,
  dialect: Dialect,
  who: { person: string; session: string },
  receive: (kind: Kind, payload: Buffer) => void,
): Promise<RawSocket> {
  let welcomed: () => void = () => {};
  const welcome = new Promise<void>((resolve) => {
    welcomed = resolve;
  });
  const socket = await openRawSocket(port, dialect.path, (payload) => {
    const kind = kindOf(payload);
    if (kind === "welcome") welcomed();
    else if (kind === "other" && !payload.includes('"catalog-page"'))
      throw new Error(`The relay said: ${payload.subarray(0, 400)}`);
    else receive(kind, payload);
  });
  socket.send(dialect.hello(who.person, who.session));
  await welcome;
  return socket;
}

let made = 0;
const filler =
  "so then I restarted it and the same thing came back after an hour, with nothing new in the log at all. ".repeat(
    4,
  );

/** A chat message of about 500 bytes of JSON, its id, and the moment it was made inside its text. */
export function nextMessage(person: string): { id: string; text: string } {
  made += 1;
  const id = `${person}-${made.toString(36).padStart(30 - person.length, "0")}`;
  const open = `{"id":"${id}","role":"user","content":[{"type":"text","text":"t=${performance.now().toFixed(3)} `;
  const close = '"}],"metadata":{},"createdAt":"2026-01-01T00:00:00.000Z"}';
  return { id, text: open + filler.slice(0, 500 - open.length - close.length) + close };
}

/** The moment inside a pushed message's text, by the same clock. */
export function momentOf(payload: Buffer): number {
  const at = payload.indexOf("t=") + 2;
  return Number(payload.subarray(at, payload.indexOf(" ", at)).toString());
}

/** Sends one append of these many new messages and moves the log on. */
export function sendAppend(socket: RawSocket, dialect: Dialect, log: Log, messages = 1): void {
  const texts: string[] = [];
  const ids: string[] = [];
  for (let n = 0; n < messages; n++) {
    const { id, text } = nextMessage(log.person);
    ids.push(id);
    texts.push(text);
  }
  socket.send(dialect.append(log, `op-${ids[0]}`, texts, ids));
  log.count += messages;
  log.lastId = ids.at(-1) ?? log.lastId;
}
