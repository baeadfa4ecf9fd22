import { once } from "node:events";
import { expect } from "vitest";
import { WebSocketServer } from "ws";
import type { Testimony } from "./page/writer.ts";

/** Hears from pages what they have written, and still knows it when they have been killed. */
export interface Witness {
  readonly url: string;
  /** Ids of messages, in the order in which this was told. */
  readonly began: ReadonlySet<string>;
  readonly committed: ReadonlySet<string>;
  readonly acknowledged: ReadonlySet<string>;
  close(): Promise<void>;
}

export async function openWitness(): Promise<Witness> {
  const told = { began: new Set<string>(), committed: new Set<string>(), acknowledged: new Set<string>() };
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  server.on("connection", (socket) => {
    socket.on("error", () => {});
    socket.on("message", (data) => {
      const { kind, id } = JSON.parse(String(data)) as Testimony;
      told[kind].add(id);
      // The page begins only when it was heard: what it had merely sent may be lost with it.
      if (kind === "began") socket.send(id);
    });
  });
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The witness has no port.");
  return {
    url: `ws://127.0.0.1:${address.port}`,
    ...told,
    close: async () => {
      for (const socket of server.clients) socket.terminate();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * A message that was told of is there, once, in the order in which its page wrote it (ids are a page's name, a blank and
 * a number), and nothing is there that nobody wrote.
 */
export function checkLog(
  where: string,
  ids: readonly string[],
  told: ReadonlySet<string>,
  witness: Witness,
): void {
  const there = new Set(ids);
  const found = { where, present: ids.length, told: told.size };
  const doubled = ids.filter((id, at) => ids.indexOf(id) !== at);
  const missing = [...told].filter((id) => !there.has(id));
  const foreign = ids.filter((id) => !witness.began.has(id));
  const last = new Map<string, number>();
  const disordered = ids.filter((id) => {
    const [name = "", n = ""] = id.split(" ");
    const before = last.get(name) ?? -1;
    last.set(name, Number(n));
    return Number(n) !== before + 1;
  });
  expect({ ...found, doubled, missing, foreign, disordered }).toEqual({
    ...found,
    doubled: [],
    missing: [],
    foreign: [],
    disordered: [],
  });
}
