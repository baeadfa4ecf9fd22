import { type Client, createMessage, type Message, openClient, type SyncedSession } from "holdfast";
import { msOf, sizes, text } from "./timing.ts";

const message = (index: number): Message => createMessage({ role: "user", content: text(index) });
const messages = (count: number): Message[] => Array.from({ length: count }, (_, index) => message(index));

let sentBytes = 0;
class CountingSocket extends WebSocket {
  override send(data: string | ArrayBufferLike | Blob | ArrayBufferView<ArrayBufferLike>): void {
    sentBytes += typeof data === "string" ? data.length : "byteLength" in data ? data.byteLength : data.size;
    super.send(data as string);
  }
}

/** Resolves when the session's live view holds what is asked for. */
function shown(session: SyncedSession, wanted: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const stop = session.messages.subscribe(() => check());
    const check = () => {
      if (!wanted()) return;
      stop();
      resolve();
    };
    check();
  });
}

const open = (url: string): Promise<Client> =>
  openClient({ url, actorId: "bench", WebSocket: CountingSocket });

const appendMs = (session: SyncedSession, rounds: number = sizes.singles): Promise<number> =>
  msOf(rounds, (round) => session.append({ messages: [message(round)] }));

/** Against a relay: logs that are confirmed, for what follows to stand on. */
async function prepare(url: string): Promise<void> {
  const client = await open(url);
  await client.session("long").append({ messages: messages(sizes.log) });
  await client.session("few").append({ messages: messages(100) });
  const { pending } = await client.flush({ timeoutMs: 60_000 });
  if (pending > 0) throw new Error("The relay has not confirmed the log.");
  await client.close();
}

/** The relay is away: what the client's database costs. */
async function measureLocal(url: string): Promise<Record<string, number>> {
  let client = await open(url);
  const openOne = async (id: string) => {
    const session = client.session(id);
    await shown(session, () => session.messages.entries.length >= 50);
    await session.close();
  };
  const last50Ms = await msOf(sizes.reads, () => openOne("long"));
  const reopen = (id: string) =>
    msOf(sizes.reopens, async () => {
      await client.close();
      client = await open(url);
      await openOne(id);
    });
  const reopenMs = await reopen("long");
  const reopenFewMs = await reopen("few");

  const long = client.session("long");
  const readAllMs = await msOf(3, () => long.history());
  const atLongMs = await appendMs(long);
  const atStartMs = await appendMs(client.session("empty"));
  const burstMs = await msOf(sizes.bursts, () =>
    Promise.all(
      Array.from({ length: sizes.burst }, (_, index) => long.append({ messages: [message(index)] })),
    ),
  );
  const viewMs = await msOf(sizes.reads, async (round) => {
    const sent = message(round);
    const written = long.append({ messages: [sent] });
    await shown(long, () => long.messages.entries.at(-1)?.message.id === sent.id);
    await written;
  });
  const imported = client.session("imported");
  const importMs = await msOf(1, () => imported.append({ messages: messages(sizes.log) }));
  const atPendingMs = await appendMs(imported, 10);
  await client.close();
  return {
    appends: 1000 / atLongMs,
    burst: (1000 * sizes.burst) / burstMs,
    importMs,
    viewMs,
    readAllMs,
    last50Ms,
    reopenMs,
    appendFlat: atLongMs / atStartMs,
    appendFlatPending: atPendingMs / atStartMs,
    reopenFlat: reopenMs / reopenFewMs,
  };
}

async function checkpointMs(session: SyncedSession, rounds: number): Promise<number> {
  let history = await session.history();
  return msOf(rounds, async () => {
    const longer = [...history, message(1), message(2)];
    await session.checkpoint({ messages: longer });
    history = longer;
  });
}

/** With a relay: what a checkpoint of two new messages costs, here and on the wire. */
async function measureCheckpoint(url: string): Promise<Record<string, number>> {
  const client = await open(url);
  const long = client.session("checkpointed-long");
  const few = client.session("checkpointed-few");
  await long.append({ messages: messages(sizes.log) });
  await few.append({ messages: messages(100) });
  await client.flush({ timeoutMs: 60_000 });

  const rounds = 20;
  const fewMs = await checkpointMs(few, rounds);
  const longMs = await checkpointMs(long, rounds);
  const tailMs = await msOf(rounds, () => long.append({ messages: [message(1), message(2)] }));
  await client.flush({ timeoutMs: 60_000 });
  const sentBy = async (work: () => Promise<unknown>) => {
    const before = sentBytes;
    await work();
    await client.flush({ timeoutMs: 10_000 });
    return sentBytes - before;
  };
  const history = await long.history();
  const checkpointBytes = await sentBy(() =>
    long.checkpoint({ messages: [...history, message(1), message(2)] }),
  );
  const appendBytes = await sentBy(() => long.append({ messages: [message(1), message(2)] }));
  await client.close();
  return {
    checkpointToTail: longMs / tailMs,
    checkpointFlat: longMs / fewMs,
    checkpointBytes: checkpointBytes / appendBytes,
  };
}

/** The phases, to be called in this order; the relay is down during the second. */
export const ours = { prepare, measureLocal, measureCheckpoint };
