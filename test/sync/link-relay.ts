import type { Socket } from "../../src/env/socket.ts";
import { Link, type LinkOptions } from "../../src/sync/link.ts";
import { TestClock } from "../../src/testing/clock.ts";
import { type TestEnvironment, testEnvironment } from "../../src/testing/environment.ts";
import { type TestCable, TestNetwork } from "../../src/testing/network.ts";
import type { ClientFrame } from "../../src/wire/client-frames.ts";
import { writeFrame } from "../../src/wire/codec.ts";
import type { Welcome, WireLimits } from "../../src/wire/hello.ts";
import { readClientFrame } from "../../src/wire/read-client-frame.ts";
import { RelayFrame } from "../../src/wire/relay-frames.ts";

export const LIMITS: WireLimits = {
  maxMessageBytes: 1000,
  maxFrameBytes: 4000,
  maxOpBytes: 64_000,
  maxStateBytes: 5000,
  maxMetadataBytes: 1000,
  pageMessages: 50,
};

export function welcomeOf(fields: Partial<Welcome> = {}): Welcome {
  return {
    type: "welcome",
    protocol: 1,
    actorId: "ada",
    storeId: "store",
    cursor: 0,
    limits: LIMITS,
    ...fields,
  };
}

/** One connection as the relay's side sees it. */
export interface Visit {
  readonly socket: Socket;
  readonly frames: ClientFrame[];
  readonly binary: Uint8Array[];
  readonly atMs: number;
  say(frame: RelayFrame): void;
}

/** Answers frame by frame as a test wants; without a wish, welcomes everybody and answers pings. */
export type Answer = (frame: ClientFrame, visit: Visit) => void;

export const welcoming: Answer = (frame, visit) => {
  if (frame.type === "hello") visit.say(welcomeOf());
  if (frame.type === "ping") visit.say({ type: "pong", id: frame.id });
};

export interface Stage {
  readonly clock: TestClock;
  readonly env: TestEnvironment;
  readonly cable: TestCable;
  readonly network: TestNetwork;
  readonly visits: Visit[];
  readonly link: Link;
  readonly log: string[];
  answer: Answer;
  binary: (bytes: Uint8Array, visit: Visit) => void;
}

/** A link, a network and a relay that says what the test makes it say. */
export function stage(options: Partial<LinkOptions> & { readonly seed?: number } = {}): Stage {
  const clock = new TestClock();
  const visits: Visit[] = [];
  const log: string[] = [];
  const network = new TestNetwork({
    clock,
    accept: (socket) => {
      const visit: Visit = {
        socket,
        frames: [],
        binary: [],
        atMs: clock.now(),
        say: (frame) => socket.send(writeFrame(RelayFrame.parse(frame))),
      };
      visits.push(visit);
      return {
        received: (data) => {
          if (typeof data !== "string") {
            visit.binary.push(data);
            on.binary(data, visit);
            return;
          }
          const read = readClientFrame(data);
          if (!read.ok) throw new Error(read.fault.message);
          visit.frames.push(read.frame);
          on.answer(read.frame, visit);
        },
        closed: (code) => log.push(`relay heard ${code}`),
      };
    },
  });
  const cable = network.cable();
  const env = testEnvironment({ clock, sockets: cable, seed: options.seed });
  const link = new Link({
    url: "ws://relay",
    actorId: "ada",
    device: "device",
    env,
    events: {
      online: () => log.push("online"),
      offline: () => log.push("offline"),
      frame: (frame) => log.push(frame.type),
      statusChanged: () => log.push(`status ${link.status.link}`),
    },
    ...options,
  });
  const on: Stage = {
    clock,
    env,
    cable,
    network,
    visits,
    link,
    log,
    answer: welcoming,
    binary: () => {},
  };
  return on;
}

/** Connections made while so much time passes. */
export function connectsIn(on: Stage, ms: number): Promise<number> {
  const before = on.cable.connects;
  return on.clock.advance(ms).then(() => on.cable.connects - before);
}
