import type { Environment } from "../env/environment.ts";
import type { Socket } from "../env/socket.ts";
import { invalidInput, ProtocolError } from "../model/errors.ts";
import { readChannelFrame, writeChannelFrame } from "../wire/binary.ts";
import type { ClientFrame } from "../wire/client-frames.ts";
import { readRelayFrame, writeFrame } from "../wire/codec.ts";
import { PROTOCOL_VERSION, type Welcome } from "../wire/hello.ts";
import { drawDelayMs } from "./backoff.ts";
import { step } from "./connection.ts";
import {
  type ConnectionEffect,
  type ConnectionEvent,
  type ConnectionState,
  type ConnectionTrouble,
  initialConnection,
  linkStatus,
  signalOf,
  socketOf,
} from "./connection-state.ts";
import { errorOfTrouble } from "./connection-trouble.ts";
import type { LinkCondition, LinkEvents, Sending } from "./link-events.ts";
import { textsOf } from "./link-parts.ts";

/** Message types and lengths around the state in a channel's message. */
const MESSAGE_FRAMING_BYTES = 512;

export type TokenSource = string | (() => string | Promise<string>) | undefined;

export interface LinkOptions {
  readonly url: string;
  readonly actorId: string;
  /** Names this client instance in the relay's logs. */
  readonly device: string;
  readonly token?: TokenSource;
  readonly env: Environment;
  /** The first to watch. */
  readonly events?: Partial<LinkEvents> | undefined;
}

/** The one connection of a client to its relay: opened, kept alive, opened again; performs what `step` decides. */
export class Link {
  readonly #options: LinkOptions;
  readonly #watchers = new Set<Partial<LinkEvents>>();
  readonly #queue: ConnectionEvent[] = [];
  #state: ConnectionState;
  #stepping = false;
  #socket: Socket | undefined;
  #token: string | undefined;
  /** The token that this connection last showed. */
  #shown: string | undefined;
  #welcome: Welcome | undefined;
  #status: LinkCondition = { link: "offline", lastError: undefined };
  #trouble: ConnectionTrouble | undefined;
  #parts = 0;
  #pings = 0;
  #stopTimer = (): void => {};
  #leavePage = (): void => {};

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#state = initialConnection(options.actorId);
    if (options.events !== undefined) this.watch(options.events);
  }

  /** Events go to the watchers in the order they came. One that throws ends the connection, and it is made anew. */
  watch(events: Partial<LinkEvents>): () => void {
    this.#watchers.add(events);
    return () => this.#watchers.delete(events);
  }

  /** Connects, and goes on connecting until `close` or a refusal that is final. */
  start(): void {
    if (this.#state.phase !== "idle") return;
    this.#leavePage = this.#options.env.page.watch((told) => {
      const signal = signalOf(told);
      if (signal !== undefined) this.#dispatch({ type: "page", signal });
    });
    this.#dispatch({ type: "start" });
  }

  /** Now, instead of after the wait; also after a refusal. */
  reconnect(): void {
    this.#dispatch({ type: "reconnect" });
  }

  /** For good. */
  close(): void {
    this.#leavePage();
    this.#dispatch({ type: "close" });
  }

  get status(): LinkCondition {
    return this.#status;
  }

  /** What the relay said when this connection began; undefined while there is none. */
  get welcome(): Welcome | undefined {
    return this.#welcome;
  }

  get bufferedBytes(): number {
    return this.#socket?.bufferedBytes ?? 0;
  }

  /** Sends a frame, in parts where it is longer than one may be (P11). Sent is not arrived. */
  send(frame: ClientFrame): Sending {
    const limits = this.#welcome?.limits;
    if (limits === undefined) return "offline";
    this.#parts += 1;
    const texts = textsOf(frame, `part-${this.#parts}`, limits);
    for (const text of texts ?? []) this.#socket?.send(text);
    return texts === undefined ? "too-large" : "sent";
  }

  sendBinary(channel: number, message: Uint8Array): Sending {
    const limits = this.#welcome?.limits;
    if (limits === undefined) return "offline";
    const bytes = writeChannelFrame(channel, message);
    if (message.byteLength > limits.maxStateBytes + MESSAGE_FRAMING_BYTES) return "too-large";
    this.#socket?.send(bytes);
    return "sent";
  }

  /** One event at a time: what effects give rise to waits until they are done. */
  #dispatch(event: ConnectionEvent): void {
    this.#queue.push(event);
    if (this.#stepping) return;
    this.#stepping = true;
    try {
      for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
        const { state, effects } = step(this.#state, next, this.#options.env.clock.now());
        const before = this.#state;
        this.#state = state;
        // Before anybody hears of it: nobody may send on what is over, and the status already says so.
        if (state.phase !== "online") this.#welcome = undefined;
        const news = this.#renewStatus();
        for (const effect of effects) this.#perform(effect);
        if (before.phase !== state.phase) {
          this.#options.env.reporter.report("info", "link.phase", { from: before.phase, to: state.phase });
        }
        if (news) this.#tell((watcher) => watcher.statusChanged?.());
      }
    } finally {
      this.#stepping = false;
    }
  }

  #perform(effect: ConnectionEffect): void {
    const { clock, random } = this.#options.env;
    switch (effect.do) {
      case "ask-token":
        void this.#askToken(effect.ask);
        break;
      case "connect":
        this.#connect(effect.socket);
        break;
      case "say-hello":
        this.#sayHello();
        break;
      case "reauthenticate":
        this.#reauthenticate();
        break;
      case "ping":
        this.#pings += 1;
        this.#socket?.send(writeFrame({ type: "ping", id: this.#pings }));
        break;
      case "end-socket":
        this.#socket?.close(effect.code);
        this.#socket = undefined;
        break;
      case "wait": {
        this.#stopTimer();
        const { timer, range } = effect;
        const delayMs = drawDelayMs(range, random.fraction());
        this.#stopTimer = clock.after(delayMs, () =>
          this.#dispatch({ type: "timer", timer, bufferedBytes: this.bufferedBytes }),
        );
        break;
      }
      case "stop-waiting":
        this.#stopTimer();
        break;
      case "tell-online":
        this.#welcome = effect.welcome;
        this.#tell((watcher) => watcher.online?.(effect.welcome));
        break;
      case "tell-offline":
        this.#tell((watcher) => watcher.offline?.());
        break;
    }
  }

  async #askToken(ask: number): Promise<void> {
    const { token: source } = this.#options;
    try {
      const token: unknown = typeof source === "function" ? await source() : source;
      if (typeof token !== "string" && source !== undefined) throw invalidInput("token", "must be text");
      // A late answer to a question that was given up says nothing any more.
      if (!("ask" in this.#state) || this.#state.ask !== ask) return;
      this.#token = token as string | undefined;
      this.#dispatch({ type: "token", ask });
    } catch (cause) {
      this.#dispatch({ type: "token-failed", ask, cause });
    }
  }

  #connect(socket: number): void {
    this.#socket = this.#options.env.sockets.connect(this.#options.url, {
      opened: () => this.#dispatch({ type: "opened", socket }),
      received: (data) => this.#received(socket, data),
      closed: (code, reason) => this.#dispatch({ type: "closed", socket, code, reason }),
    });
  }

  #sayHello(): void {
    const { actorId, device } = this.#options;
    const hello = { type: "hello", protocol: PROTOCOL_VERSION, actorId, device, streams: true } as const;
    this.#socket?.send(writeFrame(this.#token === undefined ? hello : { ...hello, token: this.#token }));
    this.#shown = this.#token;
  }

  #reauthenticate(): void {
    if (this.#token === undefined || this.#token === this.#shown) return;
    this.#socket?.send(writeFrame({ type: "reauthenticate", token: this.#token }));
    this.#shown = this.#token;
  }

  #received(socket: number, data: string | Uint8Array): void {
    if (socket !== socketOf(this.#state)) return;
    this.#dispatch({ type: "heard", socket });
    try {
      if (typeof data === "string") this.#readText(socket, data);
      else this.#readBinary(data);
    } catch (cause) {
      this.#broken(cause);
    }
  }

  #readText(socket: number, text: string): void {
    const read = readRelayFrame(text);
    if (!read.ok) throw new ProtocolError(`The relay sent what cannot be read. ${read.fault.message}`);
    const { frame } = read;
    switch (frame.type) {
      case "welcome":
        this.#dispatch({ type: "welcome", socket, welcome: frame });
        break;
      case "fault":
        this.#dispatch({
          type: "fault",
          socket,
          code: frame.code,
          message: frame.message,
          limit: frame.limit,
        });
        break;
      case "pong":
        break;
      default:
        if (this.#welcome === undefined)
          throw new ProtocolError(`The relay sent ${frame.type} before its welcome`);
        for (const watcher of this.#watchers) watcher.frame?.(frame);
    }
  }

  #readBinary(bytes: Uint8Array): void {
    const frame = readChannelFrame(bytes);
    if (frame === undefined)
      throw new ProtocolError("The relay sent a binary frame that is no channel frame");
    if (this.#welcome === undefined)
      throw new ProtocolError("The relay sent a channel frame before its welcome");
    for (const watcher of this.#watchers) watcher.binary?.(frame.channel, frame.message);
  }

  #renewStatus(): boolean {
    const link = linkStatus(this.#state, this.#options.env.page.online);
    const { trouble } = this.#state;
    if (link === this.#status.link && trouble === this.#trouble) return false;
    this.#trouble = trouble;
    this.#status = { link, lastError: trouble === undefined ? undefined : errorOfTrouble(trouble) };
    return true;
  }

  #tell(tell: (watcher: Partial<LinkEvents>) => void): void {
    for (const watcher of [...this.#watchers]) {
      try {
        tell(watcher);
      } catch (cause) {
        this.#broken(cause);
      }
    }
  }

  /** A frame that cannot be read or handled leaves the connection in a state that nobody knows. */
  #broken(cause: unknown): void {
    const error = cause instanceof ProtocolError ? cause.message : cause instanceof Error ? cause.name : "";
    this.#options.env.reporter.report("error", "link.broken", { error });
    const socket = socketOf(this.#state);
    if (socket !== undefined) this.#dispatch({ type: "unreadable", socket, cause });
  }
}
