// Bundles the core door without its dependencies, for size-limit to weigh: what an application downloads of ours.
import { fileURLToPath } from "node:url";
import { bundle } from "../test/support/bundle.ts";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const made = await bundle('export * from "holdfast";', {
  external: "packages",
  minify: true,
  write: "test-results/size/core.js",
});
console.log(`${made.modules.length} modules of the core, ${made.code.length} characters minified`);
