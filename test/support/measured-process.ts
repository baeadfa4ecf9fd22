import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { RelayLimits } from "../../server/limits.ts";
import type { Taken } from "./measured-relay.ts";

/** A relay in a process of its own, of which a test can ask what it takes. */
export interface MeasuredRelay {
  readonly url: string;
  /** After a collection. */
  taken(): Promise<Taken>;
  /** As it is: nothing is collected. */
  residentBytes(): Promise<number>;
  /** What its log told, each with the code of it. */
  events(): Promise<readonly string[]>;
  dispose(): Promise<void>;
}

export async function measuredRelay(limits: Partial<RelayLimits> = {}): Promise<MeasuredRelay> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-measured-"));
  const script = fileURLToPath(new URL("./measured-relay.ts", import.meta.url));
  const options = JSON.stringify({ path: join(folder, "relay.db"), limits });
  const child: ChildProcess = fork(script, [options], { execArgv: ["--import", "tsx"] });
  const waiting: { answered(message: unknown): void; failed(error: Error): void }[] = [];
  child.on("message", (message) => waiting.shift()?.answered(message));
  child.on("exit", () => {
    for (const { failed } of waiting.splice(0)) failed(new Error("The relay's process ended"));
  });
  // Answers come in the order of the questions; the first is the address, which nobody asks for.
  const answer = <T>(): Promise<T> =>
    new Promise((resolve, reject) => {
      waiting.push({ answered: (message) => resolve(message as T), failed: reject });
    });
  const url = await answer<string>();
  const ask = <T>(question: string): Promise<T> => {
    child.send(question);
    return answer<T>();
  };
  return {
    url,
    taken: () => ask("taken"),
    residentBytes: () => ask("resident"),
    events: () => ask("events"),
    dispose: async () => {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
