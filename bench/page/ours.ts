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

async function appendRate(session: SyncedSession): Promise<number> {
  return msOf(sizes.singles, (round) => session.append({ messages: [message(round)] }));
}

/** Without a network: what the client's database costs. `nowhere` is an address that refuses. */
async function measureLocal(nowhere: string): Promise<Record<string, number>> {
  let client = await open(nowhere);
  const empty = client.session("empty");
  const appendAtStartMs = await appendRate(empty);
  const long = client.session("long");
  const importMs = await msOf(1, () => long.append({ messages: messages(sizes.log) }));
  const appendMs = await appendRate(long);
  const burstMs = await msOf(sizes.bursts, () =>
    Promise.all(
      Array.from({ length: sizes.burst }, (_, index) => long.append({ messages: [message(index)] })),
    ),
  );
  const viewMs = await msOf(sizes.reads * 2, async (round) => {
    const sent = message(round);
    const written = long.append({ messages: [sent] });
    await shown(long, () => long.messages.entries.at(-1)?.message.id === sent.id);
    await written;
  });
  const readAllMs = await msOf(3, () => long.history());
  const few = client.session("few");
  await few.append({ messages: messages(100) });

  const openOne = async (id: string) => {
    const session = client.session(id);
    await shown(session, () => session.messages.entries.length >= 50);
    await session.close();
  };
  await Promise.all([empty.close(), long.close(), few.close()]);
  const last50Ms = await msOf(sizes.reads, () => openOne("long"));
  const reopen = (id: string) =>
    msOf(sizes.reopens, async () => {
      await client.close();
      client = await open(nowhere);
      await openOne(id);
    });
  const reopenMs = await reopen("long");
  const reopenFewMs = await reopen("few");
  await client.close();
  return {
    appends: 1000 / appendMs,
    burst: (1000 * sizes.burst) / burstMs,
    importMs,
    viewMs,
    readAllMs,
    last50Ms,
    reopenMs,
    appendFlat: appendMs / appendAtStartMs,
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

export async function measureOurs(urls: { nowhere: string; relay: string }): Promise<Record<string, number>> {
  return { ...(await measureLocal(urls.nowhere)), ...(await measureCheckpoint(urls.relay)) };
}
