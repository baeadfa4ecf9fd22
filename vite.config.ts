// One file for everything vite does here: it builds the demo's page from demo/, and holds the test projects.
import { fileURLToPath } from "node:url";
import { VitePWA } from "vite-plugin-pwa";
import { defineConfig } from "vitest/config";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The package's public doors, answered from source, so that neither tests nor the demo need a build first. */
export const doors: { find: RegExp; replacement: string }[] = [
  { find: /^holdfast$/, replacement: here("src/index.ts") },
  { find: /^holdfast\/server$/, replacement: here("server/index.ts") },
  { find: /^holdfast\/react$/, replacement: here("src/react/index.ts") },
  { find: /^holdfast\/testing$/, replacement: here("src/testing/index.ts") },
  { find: /^holdfast\/openai$/, replacement: here("src/adapters/openai.ts") },
];

const testing = process.env.VITEST !== undefined;
const everywhere = { root: here("."), environment: "node", pool: "forks", passWithNoTests: false } as const;

export default defineConfig({
  root: here(testing ? "." : "demo"),
  resolve: { alias: doors },
  build: { outDir: here("demo/dist"), emptyOutDir: true, target: "es2022", chunkSizeWarningLimit: 800 },
  plugins: testing
    ? []
    : [
        VitePWA({
          registerType: "autoUpdate",
          workbox: { globPatterns: ["**/*.{js,css,html,svg,woff2}"] },
          manifest: {
            name: "Holdfast",
            short_name: "Holdfast",
            description: "Conversations that survive",
            display: "standalone",
            icons: [{ src: "icon.svg", sizes: "any", type: "image/svg+xml" }],
          },
        }),
      ],
  test: {
    allowOnly: false,
    projects: [
      {
        extends: true,
        test: {
          ...everywhere,
          name: "node",
          include: ["test/**/*.test.{ts,tsx}"],
          exclude: ["test/e2e/**"],
          maxWorkers: 2,
          testTimeout: 20_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          ...everywhere,
          name: "e2e",
          include: ["test/e2e/**/*.e2e.test.{ts,tsx}"],
          // Each file drives whole browsers and relay processes: one at a time, after the tests of logic.
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
