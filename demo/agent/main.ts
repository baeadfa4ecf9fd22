// The answering agent: a process that joins the conversations of every actor it is asked to serve.
//   HOLDFAST_URL   the relay (ws://127.0.0.1:8787)        AGENT_PORT   where it takes requests, on loopback (any free port)
//   AGENT_WORD_MS  how long it takes over a word of its answers (45)
//   OPENAI_BASE_URL, OPENAI_API_KEY, OPENAI_MODEL         a model to ask; without them it answers by rules
import type { AddressInfo } from "node:net";
import { openClient } from "holdfast";
import { WebSocket } from "ws";
import { chooseResponder } from "./choose-responder.ts";
import { joinServer } from "./join-server.ts";
import { Supervisor } from "./supervisor.ts";

const url = process.env.HOLDFAST_URL ?? "ws://127.0.0.1:8787";
const port = Number(process.env.AGENT_PORT ?? 0);
const wordMs = Number(process.env.AGENT_WORD_MS ?? 45);
const { name, respond } = chooseResponder(process.env);

const supervisor = new Supervisor({
  open: (actorId) =>
    openClient({
      url,
      actorId,
      storage: "memory",
      // The same interface, by another hand than the browser's.
      WebSocket,
    }),
  respond,
  wordMs,
  report: (event, error) => console.error(event, error instanceof Error ? error.message : (error ?? "")),
});

const server = joinServer((actorId) => supervisor.join(actorId));
server.listen(port, "127.0.0.1", () => {
  const address = server.address() as AddressInfo;
  console.log(`agent at http://127.0.0.1:${address.port} (answers by ${name}, relay ${url})`);
});

const stop = async (): Promise<void> => {
  server.close();
  await supervisor.close();
  process.exit(0);
};
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stop());
