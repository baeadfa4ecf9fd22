import { type SpawnOptions, spawn } from "node:child_process";

/** Runs a command with this process's output; answers its exit code, 1 where a signal ended it. */
export function run(command: string, args: readonly string[], options: SpawnOptions = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ["ignore", "inherit", "inherit"], ...options });
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
}
