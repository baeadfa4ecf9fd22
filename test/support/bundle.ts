import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { doors } from "../../vite.config.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const entry = "virtual:entry";

export interface Bundle {
  readonly code: string;
  /** Files that ended up in it, from the repository's root; those of which nothing was kept are not listed. */
  readonly modules: readonly string[];
  /** Packages and built-ins it still imports. */
  readonly imports: readonly string[];
}

/**
 * What an application's bundler makes of a few lines that import the package. `external: "packages"` leaves
 * dependencies out, so that what is left is our own code.
 */
export async function bundle(
  source: string,
  options: { external?: "packages" | "nothing"; minify?: boolean; write?: string } = {},
): Promise<Bundle> {
  const own = (id: string) =>
    id.endsWith(entry) ||
    id.startsWith("holdfast") ||
    id.startsWith(".") ||
    id.startsWith("/") ||
    id.startsWith("\0");
  const result = await build({
    configFile: false,
    root,
    logLevel: "error",
    resolve: { alias: doors },
    plugins: [
      {
        name: "entry",
        enforce: "pre",
        resolveId: (id) => (id.endsWith(entry) ? `\0${entry}` : undefined),
        load: (id) => (id === `\0${entry}` ? source : undefined),
      },
    ],
    build: {
      write: false,
      target: "es2022",
      minify: options.minify ?? false,
      modulePreload: { polyfill: false },
      rolldownOptions: {
        input: entry,
        preserveEntrySignatures: "strict",
        ...(options.external === "packages" ? { external: (id: string) => !own(id) } : {}),
      },
    },
  });
  const outputs = (Array.isArray(result) ? result : [result]).flatMap((one) =>
    "output" in one ? one.output : [],
  );
  const chunks = outputs.filter((one) => one.type === "chunk");
  const code = chunks.map((chunk) => chunk.code).join("\n");
  if (options.write !== undefined) {
    mkdirSync(dirname(options.write), { recursive: true });
    writeFileSync(options.write, code);
  }
  const kept = chunks.flatMap((chunk) =>
    Object.entries(chunk.modules).filter(([, module]) => module.renderedLength > 0),
  );
  return {
    code,
    modules: kept.map(([id]) => id.replace(root, "")).filter((id) => !id.startsWith("\0")),
    imports: [...new Set(chunks.flatMap((chunk) => [...chunk.imports, ...chunk.dynamicImports]))].filter(
      (id) => !id.startsWith("assets/"),
    ),
  };
}
