// Bundles what an application downloads of ours, without dependencies, for size-limit to weigh.
import { fileURLToPath } from "node:url";
import { bundle } from "../test/support/bundle.ts";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const bundles = {
  core: 'export * from "holdfast";',
  session: 'export { MemoryStore, Session } from "holdfast";',
};
for (const [name, source] of Object.entries(bundles)) {
  const write = `test-results/size/${name}.js`;
  const { modules, code } = await bundle(source, { external: "packages", minify: true, write });
  console.log(`${name}: ${modules.length} modules, ${code.length} characters minified`);
}
