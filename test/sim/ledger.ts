import { ConflictError, RejectedError, StorageError } from "../../src/model/errors.ts";
import type { Message } from "../../src/model/message.ts";
import type { MemoryDisk } from "../../src/store/memory-disk.ts";
import type { PendingOp, RejectedRow, RunRow } from "../../src/store/sync-rows.ts";
import { SESSION, type Writer } from "./device.ts";
import type { AppendCall } from "./linearizable.ts";
import type { World } from "./world.ts";

type Call = { -readonly [K in keyof AppendCall]: AppendCall[K] };

/** What the simulation knows must be true. */
export class Ledger {
  /** Messages whose local commit was told, in the order of each device. */
  readonly committed: { readonly id: string; readonly device: string; readonly floating: boolean }[] = [];
  /** Appends as the application saw them. */
  readonly calls: Call[] = [];
  /** Messages that a checkpoint or a replace gave as part of a whole log: it may bring in what was refused alone. */
  readonly contained = new Set<string>();
  /** Refused once, and put at the end again by the user. */
  readonly retried = new Set<string>();
  /** Thrown away by the user. */
  readonly discarded = new Set<string>();
  /** Leaves of the state that one device alone wrote, with the last value it committed; undefined when that is open. */
  readonly leaves = new Map<string, number | undefined>();

  /** One write of messages. What becomes of it is noted when it is told, whenever that is. */
  async write(
    world: World,
    device: Writer,
    messages: readonly Message[],
    { kind, work }: { kind: "append" | "log"; work: (until: "local" | "confirmed") => Promise<unknown> },
    floating = false,
  ): Promise<"committed" | "failed" | "unknown"> {
    const ids = messages.map(({ id }) => id);
    const call: Call = { client: device.name, ids, invoked: world.moment(), outcome: "unknown" };
    if (kind === "append") this.calls.push(call);
    else for (const id of ids) this.contained.add(id);
    const unsaid = device.trouble.unsaid;
    const waits = kind === "append" && device.name !== "a";
    const commit = (): void => {
      for (const id of ids) this.committed.push({ id, device: device.name, floating });
    };
    const done = work(waits ? "confirmed" : "local");
    if (!waits) {
      try {
        await done;
        commit();
        return "committed";
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        // A failed local write changes nothing, unless the disk lied about its commit (H1).
        if (device.trouble.unsaid !== unsaid) return "unknown";
        call.outcome = "refused";
        return "failed";
      }
    }
    done.then(
      () => Object.assign(call, { outcome: "acknowledged", returned: world.moment() }),
      (error: unknown) => {
        if (error instanceof ConflictError || error instanceof RejectedError) call.outcome = "refused";
      },
    );
    // The local commit is seen on the disk before anything is told by the relay.
    for (let tries = 0; tries < 100 && !isOnDisk(device.disk, ids); tries++) await Promise.resolve();
    if (!isOnDisk(device.disk, ids)) return "unknown";
    commit();
    return "committed";
  }
}

function isOnDisk(disk: MemoryDisk, ids: readonly string[]): boolean {
  const there = heldIds(disk);
  return ids.every((id) => there.has(id));
}

/** Every message of the session that this disk holds: confirmed, pending or rejected. */
export function heldIds(disk: MemoryDisk): Set<string> {
  const ids = new Set<string>();
  const add = (messages: readonly { readonly [field: string]: unknown }[]): void => {
    for (const { id } of messages) ids.add(String(id));
  };
  for (const { session, messages } of rows<RunRow>(disk, "runs")) if (session === SESSION) add(messages);
  for (const op of rows<PendingOp>(disk, "outbox")) {
    if ("messages" in op) add(op.messages);
    if ("carried" in op) add(op.carried);
  }
  for (const { messages } of rows<RejectedRow>(disk, "rejected")) add(messages);
  return ids;
}

/** What is committed on the disk at this moment. */
export function rows<Row>(disk: MemoryDisk, table: string): Row[] {
  return disk.image(table).rows.map(({ row }) => row as Row);
}
