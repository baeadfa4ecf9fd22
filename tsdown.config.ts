import { defineConfig } from "tsdown";

// One output file per source file, so that an application's bundler can leave out what it does not import:
// a bundle of Session and MemoryStore must hold no Dexie, Yjs or socket.
export default defineConfig({
  entry: [
    "src/index.ts",
    "src/react/index.ts",
    "src/testing/index.ts",
    "src/adapters/openai.ts",
    "server/index.ts",
    "server/main.ts",
  ],
  outDir: "dist",
  root: ".",
  format: "esm",
  platform: "node",
  target: "es2022",
  unbundle: true,
  dts: true,
  clean: true,
  fixedExtension: false,
  // src/ is the package's root in dist/, server/ stands beside it.
  outputOptions: { entryFileNames: (file) => `${file.name.replace(/^src\//, "")}.js` },
});
