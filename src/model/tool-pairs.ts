import type { ToolResultBlock, ToolUseBlock } from "./content.ts";
import type { Message } from "./message.ts";

/** A call of a tool, where it stands in a history, and its result if there is one after it. */
export interface Call {
  readonly at: number;
  readonly blockAt: number;
  readonly block: ToolUseBlock;
  readonly result: Result | undefined;
}

/** A result that belongs to a call, and where it stands in a history. */
export interface Result {
  readonly at: number;
  readonly blockAt: number;
  readonly block: ToolResultBlock;
}

/**
 * The calls of a history by the message that makes them. A result belongs to the nearest call before it of the same id
 * that has none yet, since foreign histories use an id again in each turn; other results belong to no call.
 */
export function pairToolCalls(history: readonly Message[]): ReadonlyMap<number, readonly Call[]> {
  const open = new Map<string, Paired[]>();
  const turns = new Map<number, Paired[]>();
  history.forEach((message, at) => {
    message.content.forEach((block, blockAt) => {
      if (block.type === "tool_use") {
        const call: Paired = { at, blockAt, block, result: undefined };
        add(open, block.id, call);
        add(turns, at, call);
      } else if (block.type === "tool_result") {
        const call = open.get(block.toolUseId)?.pop();
        if (call !== undefined) call.result = { at, blockAt, block };
      }
    });
  });
  return turns;
}

type Paired = { -readonly [Field in keyof Call]: Call[Field] };

function add<Key>(lists: Map<Key, Paired[]>, key: Key, call: Paired): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [call]);
  else list.push(call);
}
