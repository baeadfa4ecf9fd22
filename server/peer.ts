import { within } from "../src/env/within.ts";
import { versionOfHello, writeFrame } from "../src/wire/codec.ts";
import { FAULTS } from "../src/wire/fault.ts";
import { PROTOCOL_VERSION } from "../src/wire/hello.ts";
import { AnswerLine, type Task } from "./answer-line.ts";
import { FrameReader, type Incoming } from "./frame-reader.ts";
import { type Greeting, greet, versionFault } from "./greeting.ts";
import { limitTold, maxBinaryFrameBytes, wireLimits } from "./limits.ts";
import { drained } from "./outbox-gauge.ts";
import { PeerChannels } from "./peer-channels.ts";
import { PeerStreams } from "./peer-streams.ts";
import { answerOf, notNow, opTask, type ReadFrame } from "./peer-tasks.ts";
import { type FaultTold, faultText } from "./relay-frames.ts";
import type { Connection, ConnectionInfo, Participant, Receiver, RelayServices } from "./relay-services.ts";
import { atTime } from "./timing.ts";

interface Open {
  readonly at: "open";
  readonly actor: string;
  readonly reader: FrameReader;
  readonly line: AnswerLine;
  readonly channels: PeerChannels;
  /** Undefined: the client has not said that it reads their frames. */
  readonly streams: PeerStreams | undefined;
  readonly reading: boolean;
  readonly cancelExpiry: () => void;
}
type Phase =
  | { readonly at: "greeting" | "checking"; readonly cancelTimeout: () => void }
  | Open
  | { readonly at: "over" };

/** One connection that speaks the log protocol, from its first frame to its end. */
export class Peer implements Receiver, Participant {
  readonly #services: RelayServices;
  readonly #connection: Connection;
  readonly #info: ConnectionInfo;
  #phase: Phase;

  constructor(services: RelayServices, connection: Connection, info: ConnectionInfo) {
    this.#services = services;
    this.#connection = connection;
    this.#info = info;
    const cancelTimeout = services.clock.after(services.limits.authTimeoutMs, () => {
      if (this.#phase.at === "greeting") {
        this.dismiss({ code: "unauthenticated", message: "No hello came in time" });
      } else this.dismiss({ code: "try-again", message: "The token could not be checked in time" });
    });
    this.#phase = { at: "greeting", cancelTimeout };
  }

  received(data: string | Uint8Array): void {
    const phase = this.#phase;
    if (phase.at === "over") return;
    if (phase.at !== "open") this.#hear(data, phase);
    else if (typeof data === "string") this.#take(phase.reader.read(data), data.length, phase);
    else this.#takeBytes(data, phase);
  }

  tooLarge(): void {
    const { limits } = this.#services;
    const name = this.#phase.at === "open" ? "maxFrameBytes" : "maxHelloBytes";
    this.dismiss({ code: "too-large", ...limitTold(name, limits[name]) });
  }

  closed(): void {
    this.#leave();
  }

  changed(push: string): void {
    if (this.#phase.at === "open") this.#send(push);
  }

  dismiss(fault: FaultTold): void {
    if (this.#phase.at === "over") return;
    this.#services.reporter.report(
      "info",
      this.#phase.at === "open" ? "connection-ended" : "connection-refused",
      {
        code: fault.code,
        limit: fault.limit?.name,
      },
    );
    this.#leave();
    this.#connection.send(faultText(fault));
    this.#connection.close(FAULTS[fault.code].close ?? 1008, fault.code);
  }

  #leave(): void {
    const phase = this.#phase;
    this.#phase = { at: "over" };
    if (phase.at === "greeting" || phase.at === "checking") phase.cancelTimeout();
    if (phase.at !== "open") return;
    phase.cancelExpiry();
    phase.line.close();
    phase.channels.closeAll();
    phase.streams?.leave();
    this.#services.leave(phase.actor, this);
  }

  /** The first frame, and nothing but it (P3). */
  #hear(data: string | Uint8Array, phase: Exclude<Phase, Open | { at: "over" }>): void {
    const { limits } = this.#services;
    if (data.length > limits.maxHelloBytes) {
      this.tooLarge();
      return;
    }
    const first = typeof data === "string" ? new FrameReader(limits).read(data) : undefined;
    if (first?.is !== "frame" || first.frame.type !== "hello" || phase.at !== "greeting") {
      const message = "The first frame is a hello, and the next waits for the welcome";
      const version = typeof data === "string" && phase.at === "greeting" ? versionOfHello(data) : undefined;
      const foreign = version === undefined ? undefined : versionFault(version);
      this.dismiss(foreign ?? { code: "malformed", message });
      return;
    }
    this.#phase = { ...phase, at: "checking" };
    const { streams = false } = first.frame;
    void greet(first.frame, this.#services, this.#info).then((greeting) => this.#greeted(greeting, streams));
  }

  #greeted(greeting: Greeting, readsStreams: boolean): void {
    const phase = this.#phase;
    if (phase.at !== "checking") return;
    const { limits, channels, enter } = this.#services;
    const fault = greeting.welcome ? enter(greeting.identity.actorId, this) : greeting.fault;
    if (!greeting.welcome || fault !== undefined) {
      if (fault !== undefined) this.dismiss(fault);
      return;
    }
    phase.cancelTimeout();
    this.#connection.admitted?.();
    const actor = greeting.identity.actorId;
    const send = (data: string | Uint8Array): void => this.#send(data);
    this.#phase = {
      at: "open",
      actor,
      reader: new FrameReader(limits),
      line: new AnswerLine({ send, changed: () => this.#regulate() }),
      channels: new PeerChannels({ actor, channels, maxChannels: limits.maxChannelsPerSocket, send }),
      streams: readsStreams ? new PeerStreams(this.#services, actor, this.#connection) : undefined,
      reading: true,
      cancelExpiry: this.#expireAt(greeting.identity.expiresAt),
    };
    this.#sayWelcome(greeting);
  }

  #sayWelcome({ identity, at }: Extract<Greeting, { welcome: true }>): void {
    const { storeId, limits } = this.#services;
    const { actorId, expiresAt } = identity;
    this.#send(
      writeFrame({
        type: "welcome",
        protocol: PROTOCOL_VERSION,
        actorId,
        storeId,
        ...at,
        limits: wireLimits(limits),
        streams: true,
        ...(expiresAt === undefined ? {} : { expiresAt: expiresAt.toISOString() }),
      }),
    );
  }

  #expireAt(expiresAt: Date | undefined): () => void {
    if (expiresAt === undefined) return () => {};
    return atTime(this.#services.clock, expiresAt.getTime(), () =>
      this.dismiss({ code: "unauthenticated", message: "The token has expired" }),
    );
  }

  #take(incoming: Incoming, bytes: number, phase: Open): void {
    if (incoming.is === "fault") this.dismiss(incoming.fault);
    else if (incoming.is === "answered") this.#add({ kind: "say", text: incoming.answer }, bytes, phase);
    else if (incoming.is === "frame") {
      const task = this.#taskOf(incoming, phase);
      if (task !== undefined) this.#add(task, incoming.text.length, phase);
      else this.dismiss({ code: "malformed", message: "This frame is not for this connection" });
    }
  }

  #taskOf({ frame, text }: Extract<Incoming, { is: "frame" }>, phase: Open): Task | undefined {
    const { actor, channels, streams } = phase;
    switch (frame.type) {
      case "append":
      case "replace":
      case "edit":
      case "delete":
        return opTask(frame, text, { services: this.#services, actor, participant: this });
      case "pull":
      case "read-generation":
      case "list-generations":
      case "catalog":
        return { kind: "read", read: () => this.#answer(frame, actor) };
      case "open-channel":
        return { kind: "act", act: () => channels.open(frame) };
      case "close-channel":
        return { kind: "act", act: () => channels.close(frame.channel) };
      case "stream":
      case "stream-end":
        return streams && { kind: "act", act: () => streams.take(frame) };
      case "stream-ask":
        return streams && { kind: "read", read: () => this.#readable(() => streams.answer(frame)) };
      case "ping":
        return { kind: "say", text: writeFrame({ type: "pong", id: frame.id }) };
      case "reauthenticate":
        return { kind: "read", read: () => this.#reauthenticate(frame.token, actor) };
      case "hello":
        return undefined;
    }
  }

  #takeBytes(bytes: Uint8Array, phase: Open): void {
    const { limits } = this.#services;
    if (bytes.byteLength > maxBinaryFrameBytes(limits)) {
      this.dismiss({ code: "too-large", ...limitTold("maxStateBytes", limits.maxStateBytes) });
      return;
    }
    const act = (): void => {
      if (phase.channels.received(bytes)) return;
      this.dismiss({ code: "malformed", message: "Not a channel frame" });
    };
    this.#add({ kind: "act", act }, bytes.byteLength, phase);
  }

  #add(task: Task, bytes: number, { line }: Open): void {
    line.add(task, bytes);
    this.#regulate();
  }

  /** Stops reading while too much waits for its turn (H9). */
  #regulate(): void {
    const phase = this.#phase;
    if (phase.at !== "open") return;
    const { frames, bytes } = phase.line.outstanding;
    const { maxQueuedBytes, maxQueuedFrames } = this.#services.limits;
    if (phase.reading && (frames > maxQueuedFrames || bytes > maxQueuedBytes)) {
      this.#phase = { ...phase, reading: false };
      this.#connection.pause?.();
    } else if (!phase.reading && frames * 2 < maxQueuedFrames && bytes * 2 < maxQueuedBytes) {
      this.#phase = { ...phase, reading: true };
      this.#connection.resume?.();
    }
  }

  #answer(frame: ReadFrame, actor: string): Promise<void> {
    return this.#readable(async () => {
      try {
        this.#send(await answerOf(frame, this.#services, actor));
      } catch (error) {
        this.#services.reporter.report("error", "read-failed", { frame: frame.type, error: String(error) });
        this.#send(notNow(frame.id));
      }
    });
  }

  /** Answers once there is room for the answer. */
  async #readable(answer: () => Promise<void> | void): Promise<void> {
    const { clock, limits } = this.#services;
    const maxBytes = Math.floor(limits.maxBufferedBytes / 4);
    if (await drained(this.#connection, { clock, maxBytes, timeoutMs: limits.sendTimeoutMs })) await answer();
    else this.dismiss({ code: "try-again", message: "Nothing was read for too long" });
  }

  /** Answered by a welcome again, for its `expiresAt`. */
  async #reauthenticate(token: string, actorId: string): Promise<void> {
    const { clock, limits } = this.#services;
    const hello = { protocol: PROTOCOL_VERSION, token, actorId };
    const late: Greeting = {
      welcome: false,
      fault: { code: "try-again", message: "The token could not be checked in time" },
    };
    const greeting = await within(
      clock,
      limits.authTimeoutMs,
      greet(hello, this.#services, this.#info),
      () => late,
    );
    if (this.#phase.at !== "open") return;
    if (!greeting.welcome) {
      this.dismiss(greeting.fault);
      return;
    }
    this.#phase.cancelExpiry();
    this.#phase = { ...this.#phase, cancelExpiry: this.#expireAt(greeting.identity.expiresAt) };
    this.#sayWelcome(greeting);
  }

  #send(data: string | Uint8Array): void {
    if (this.#phase.at === "over") return;
    if (this.#connection.bufferedBytes > this.#services.limits.maxBufferedBytes) {
      this.dismiss({ code: "try-again", message: "More waited to be read than is kept" });
    } else this.#connection.send(data);
  }
}
