import { createEncoder, toUint8Array, writeVarUint, writeVarUint8Array } from "lib0/encoding";
import { Doc, encodeStateAsUpdate } from "yjs";
import { append } from "../ops.ts";
import { type RawClient, type TestRelayOptions, testRelay } from "../raw-client.ts";
import { YjsClient } from "../yjs-client.ts";

/** A relay with one session, and channels of it for as many clients as a test wants. */
export async function opened(options: TestRelayOptions = {}) {
  const relay = await testRelay(options);
  const setup = await relay.client();
  const { incarnation, head } = await setup.expect("ack", append("s", ["a"]));
  /** A client that has opened the channel and synced. */
  const join = async (channel = 1, client?: RawClient) => {
    const by = client ?? (await relay.client());
    by.say({ type: "open-channel", channel, session: "s", incarnation });
    await relay.settle();
    const yjs = new YjsClient(by, channel);
    yjs.sync();
    await exchange([yjs]);
    return { client: by, yjs };
  };
  /** Lets what was said arrive, until nobody has anything to say. */
  const exchange = async (all: readonly YjsClient[]) => {
    for (let round = 0; round < 3; round += 1) {
      await relay.settle();
      for (const yjs of all) yjs.receive();
    }
    await relay.settle();
  };
  const stored = async () => {
    const loaded = await relay.storage.loadState({ actor: "ann", session: "s", incarnation: null });
    return "absent" in loaded ? loaded.absent : loaded;
  };
  return { relay, setup, incarnation, head, join, exchange, stored };
}

export function updateOf(key: string, value: unknown): Uint8Array {
  const doc = new Doc();
  doc.getMap("state").set(key, value);
  return encodeStateAsUpdate(doc);
}

export const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

export function bring(update: Uint8Array): Uint8Array {
  const encoder = createEncoder();
  writeVarUint(encoder, 0);
  writeVarUint(encoder, 2);
  writeVarUint8Array(encoder, update);
  return toUint8Array(encoder);
}

export function presence(...words: [client: number, clock: number, state: string][]): Uint8Array {
  const inner = createEncoder();
  writeVarUint(inner, words.length);
  for (const [client, clock, state] of words) {
    writeVarUint(inner, client);
    writeVarUint(inner, clock);
    writeVarUint8Array(inner, new TextEncoder().encode(state));
  }
  const encoder = createEncoder();
  writeVarUint(encoder, 1);
  writeVarUint8Array(encoder, toUint8Array(inner));
  return toUint8Array(encoder);
}

/** Deletes every other character of a client's text, from its end: in order it would take no time. */
export function backwardDeletes(client: number, from: number, count: number): Uint8Array {
  const encoder = createEncoder();
  for (const number of [0, 1, client, count]) writeVarUint(encoder, number);
  for (let n = 0; n < count; n += 1) {
    writeVarUint(encoder, from - 2 * n);
    writeVarUint(encoder, 1);
  }
  return toUint8Array(encoder);
}
