import { createEncoder, toUint8Array, writeVarUint, writeVarUint8Array } from "lib0/encoding";
import { expect, test } from "vitest";
import { Doc, encodeStateAsUpdate } from "yjs";
import type { Head } from "../../src/model/revision.ts";
import { type SeededRandom, seededRandom } from "../../src/testing/random.ts";
import { writeChannelFrame } from "../../src/wire/binary.ts";
import { append, EMPTY, edit, message, pull, remove, replace } from "./ops.ts";
import { type RawClient, testRelay } from "./raw-client.ts";
import { YjsClient } from "./yjs-client.ts";

const SEED = 46;
const FRAMES = 100_000;
/** How many come before everything that is ready may run. */
const BURST = 100;

test(`[C46] ${FRAMES} random frames (seed ${SEED}): the relay lives, other clients notice nothing`, async () => {
  const random = seededRandom(SEED);
  const relay = await testRelay({ limits: { maxSocketsPerActor: 10, maxSessionsPerActor: 1_000 } });
  // Two who go about their work: of another actor, and of the very one in whose name the noise comes.
  const [bob, ann] = [await relay.client("bob"), await relay.client("ann")];
  const works = [worker(bob), worker(ann)];
  const { incarnation } = await ann.expect("ack", append("state", ["begin"]));
  ann.say({ type: "open-channel", channel: 7, session: "state", incarnation });
  await relay.settle();
  const yjs = new YjsClient(ann, 7);
  yjs.sync();

  let noise = await noisy(relay, random, incarnation);
  let connections = 1;
  for (let n = 0; n < FRAMES; n += 1) {
    if (noise.closed !== undefined) {
      noise.drop();
      // What was told is not kept, so that the test itself does not grow.
      noise = await noisy(relay, random, incarnation);
      connections += 1;
    }
    noise.sayRaw(frame(random, incarnation));
    if (n % BURST !== 0) continue;
    await relay.settle();
    for (const work of works) await work();
    yjs.map.set("/step", n);
    await relay.settle();
    yjs.receive();
    noise.frames.length = 0;
    noise.binary.length = 0;
    noise.bytes.length = 0;
  }
  noise.drop();
  await relay.settle();
  yjs.receive();
  expect(connections).toBeGreaterThan(100);

  // Nobody was closed or refused, every acknowledgement came, and what was written is there.
  for (const client of [bob, ann]) {
    expect(client.closed).toBeUndefined();
    expect(client.of("refusal")).toEqual([]);
    expect(client.of("channel-closed")).toEqual([]);
  }
  expect(await bob.expect("page", pull("work", null))).toMatchObject({ head: { count: FRAMES / BURST } });
  expect(await ann.expect("page", pull("work", null))).toMatchObject({ head: { count: FRAMES / BURST } });
  const { entries } = await bob.expect("catalog-page", { type: "catalog", id: "c", cursor: 0 });
  expect(entries.map(({ session }) => session)).toEqual(["work"]);
  const late = await relay.client("ann");
  late.say({ type: "open-channel", channel: 1, session: "state", incarnation });
  await relay.settle();
  const fresh = new YjsClient(late, 1);
  fresh.sync();
  await relay.settle();
  fresh.receive();
  expect(fresh.map.get("/step")).toBe(FRAMES - BURST);
  expect(relay.core.size.connections).toBe(3);
  expect(Object.prototype).not.toHaveProperty("polluted");
}, 120_000);

/** Appends one message a call, and expects its acknowledgement. */
function worker(client: RawClient): () => Promise<void> {
  let base: Head = EMPTY;
  return async () => {
    const op = append("work", [`w${base.count}`], { base });
    const ack = await client.expect("ack", op);
    base = ack.head;
    client.frames.length = 0;
    client.order.length = 0;
  };
}

/** A connection that gets as far as it needs to for its frames to be read: most of them are welcome, some stock. */
async function noisy(
  relay: Awaited<ReturnType<typeof testRelay>>,
  random: SeededRandom,
  incarnation: string,
): Promise<RawClient> {
  if (random.chance(0.1)) return relay.connect();
  if (random.chance(0.2)) {
    const stock = relay.connect({ url: "/y/noise?actorId=ann" });
    await relay.settle();
    return stock;
  }
  const client = await relay.client("ann");
  client.say(append("noise", ["n"]));
  client.say({ type: "open-channel", channel: 1, session: "state", incarnation });
  client.say({ type: "open-channel", channel: 2, session: "noise", incarnation });
  await relay.settle();
  return client;
}

function frame(random: SeededRandom, incarnation: string): string | Uint8Array {
  const kind = random.below(10);
  if (kind === 0) return random.bytes(random.below(200));
  if (kind === 1) return Buffer.from(random.bytes(random.below(200))).toString("latin1");
  if (kind <= 3) return writeChannelFrame(random.below(4), channelMessage(random));
  const text = JSON.stringify(spoilt(sound(random, incarnation), random));
  if (kind > 5) return text;
  // A text that was changed on its way.
  const at = random.below(text.length + 1);
  const what = random.below(3);
  if (what === 0) return text.slice(0, at);
  if (what === 1) return text.slice(0, at) + String.fromCharCode(random.below(0x10000)) + text.slice(at);
  return text.slice(0, at) + text.slice(at + 1 + random.below(20));
}

/** A message of the y-websocket protocol, or nearly one. */
function channelMessage(random: SeededRandom): Uint8Array {
  if (random.chance(0.3)) return random.bytes(random.below(60));
  const doc = new Doc();
  doc.getMap("noise").set(`/${random.below(5)}`, random.below(1_000));
  const bytes = Uint8Array.from(encodeStateAsUpdate(doc));
  if (random.chance(0.7)) bytes[random.below(bytes.length)] = random.below(256);
  const encoder = createEncoder();
  writeVarUint(encoder, random.below(5));
  writeVarUint(encoder, random.below(4));
  writeVarUint8Array(encoder, bytes);
  return toUint8Array(encoder);
}

function sound(random: SeededRandom, incarnation: string): Record<string, unknown> {
  const session = random.chance(0.9) ? "noise" : `noise-${random.below(50)}`;
  const id = `x${random.below(1_000)}`;
  const base = {
    generation: random.below(2),
    count: random.below(5),
    lastId: random.chance(0.5) ? "n" : null,
  };
  const frames: (() => object)[] = [
    () => append(session, [id], { opId: id, base }),
    () => replace(session, [id], { opId: id, base }),
    () => edit(session, id, { archived: true, metadata: [{ at: "/t", value: random.below(5) }] }),
    () => remove(session, id),
    () => pull(session, random.chance(0.5) ? incarnation : null),
    () => ({ type: "catalog", id, cursor: random.below(1_000) }),
    () => ({ type: "open-channel", channel: random.below(5), session, incarnation }),
    () => ({ type: "close-channel", channel: 3 }),
    () => ({ type: "part", id, index: random.below(3), of: 3, text: JSON.stringify(message(id)) }),
    () => ({ type: "read-generation", id, session, incarnation, generation: random.below(3), from: 0 }),
    () => ({ type: "list-generations", id, session, incarnation }),
    () => ({ type: "reauthenticate", token: id }),
    () => ({ type: "ping", id: random.below(10) }),
    () => ({ type: "hello", protocol: random.below(3), actorId: "ann", device: id }),
  ];
  return { ...frames[random.below(frames.length)]?.() };
}

const ODD: readonly unknown[] = [
  null,
  -1,
  0.5,
  2 ** 53,
  "",
  " ",
  "x".repeat(300),
  "\ud800",
  "a\0b",
  [],
  {},
  [[[[[[]]]]]],
  { ["__proto__"]: { polluted: true } },
  true,
];

/** With one field that is not as it should be, more often than not. */
function spoilt(frame: Record<string, unknown>, random: SeededRandom): Record<string, unknown> {
  if (random.chance(0.3)) return frame;
  const names = Object.keys(frame);
  const name = random.chance(0.1) ? "__proto__" : (names[random.below(names.length)] ?? "type");
  return { ...frame, [name]: ODD[random.below(ODD.length)] };
}
