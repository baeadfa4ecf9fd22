// The load generator, a process of its own: does one task against a relay and prints what it saw as one line of JSON.
// Usage: load.ts '{"task": "closed", "kind": "ours", "port": 1234, …}'
import { catchUp, fill, reconnect } from "./load-reading.ts";
import { closedLoop, paced } from "./load-writing.ts";
import type { Task } from "./task.ts";

const tasks = { closed: closedLoop, paced, fill, "catch-up": catchUp, reconnect };
const task = JSON.parse(process.argv[2] ?? "{}") as Task;
console.log(JSON.stringify(await tasks[task.task](task)));
process.exit(0);
