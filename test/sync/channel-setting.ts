import { afterEach, vi } from "vitest";
import { Awareness } from "y-protocols/awareness";
import { Doc } from "yjs";
import { LinkChannels } from "../../src/sync/link-channels.ts";
import { StateChannel } from "../../src/sync/state-channel.ts";
import { ChannelRelay } from "./channel-relay.ts";
import { type Stage, stage } from "./link-relay.ts";

export const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const clean of cleanups.splice(0)) clean();
  vi.useRealTimers();
});

export interface Setting {
  readonly on: Stage;
  readonly relay: ChannelRelay;
  readonly channels: LinkChannels;
  readonly doc: Doc;
  readonly awareness: Awareness;
  readonly channel: StateChannel;
  readonly log: string[];
}

/** A document whose every local change takes the next position, as a store numbers its rows. */
export function setting(incarnation = "life 1"): Setting {
  const on = stage();
  const relay = new ChannelRelay(on);
  const channels = new LinkChannels(on.link);
  const doc = new Doc();
  const awareness = new Awareness(doc);
  awareness.setLocalState(null);
  const log: string[] = [];
  let position = 0;
  doc.on("update", (_update: Uint8Array, origin: unknown) => {
    if (origin !== channel.origin) position += 1;
  });
  const channel: StateChannel = new StateChannel({
    doc,
    awareness,
    session: "s",
    incarnation,
    channels,
    position: () => position,
    onDurable: (reached) => log.push(`durable ${reached}`),
    onClosed: (code) => log.push(`closed ${code}`),
    onSynced: () => log.push("synced"),
  });
  cleanups.push(() => {
    channel.destroy();
    awareness.destroy();
    relay.doc.destroy();
    on.link.close();
  });
  on.link.start();
  return { on, relay, channels, doc, awareness, channel, log };
}

export const stateOf = (doc: Doc): unknown => doc.getMap("state").toJSON();

export async function opened(incarnation?: string): Promise<Setting> {
  const all = setting(incarnation);
  await all.on.clock.advance(0);
  all.channel.connect();
  await all.on.clock.advance(0);
  return all;
}
