import { describe, expect, test } from "vitest";
import { type Bundle, bundle } from "../support/bundle.ts";

/** Bundles are made once a door; each door's own code and everything of it that an application would load. */
const made = new Map<string, Promise<Bundle>>();
function door(name: string): Promise<Bundle> {
  const found = made.get(name) ?? bundle(`export * from "${name}";`, { external: "packages" });
  made.set(name, found);
  return found;
}
const reaching = (imports: readonly string[], pattern: RegExp) =>
  imports.filter((name) => pattern.test(name));

describe("what each door may not reach", () => {
  test("holdfast reaches no React, no ws, no database driver, no Node", async () => {
    const { imports, modules } = await door("holdfast");
    expect(modules.length).toBeGreaterThan(20);
    expect(reaching(imports, /^(react|ws$|jose|better-sqlite3|node:|fs$|crypto$|stream$)/)).toEqual([]);
    expect(modules.filter((path) => /^(server|demo|src\/(react|testing|adapters))\//.test(path))).toEqual([]);
  });

  test("holdfast/server reaches no Dexie, no React, no y-websocket, and nothing of the client", async () => {
    const { imports, modules } = await door("holdfast/server");
    expect(reaching(imports, /^(dexie|react|y-websocket)/)).toEqual([]);
    expect(modules.filter((path) => /^src\/(?!model\/|wire\/|env\/)|^src\/env\/browser/.test(path))).toEqual(
      [],
    );
  });

  test("holdfast/react reaches no ws and no Node", async () => {
    const { imports } = await door("holdfast/react");
    expect(reaching(imports, /^(ws$|jose|node:)/)).toEqual([]);
  });

  test("holdfast/openai needs the model alone", async () => {
    const { imports, modules } = await door("holdfast/openai");
    expect(modules.filter((path) => !/^src\/(model|adapters)\//.test(path))).toEqual([]);
    expect(reaching(imports, /^(?!zod)/)).toEqual([]);
  });

  test("[T6] Session over MemoryStore bundles without Dexie, Yjs or a socket", async () => {
    const source =
      'import { MemoryStore, Session } from "holdfast"; export const s = new Session({ id: "a", store: new MemoryStore() });';
    const { code, modules } = await bundle(source, { minify: true });
    expect(modules.filter((path) => /node_modules\/(?!zod\/)/.test(path))).toEqual([]);
    expect(modules.filter((path) => /^src\/(sync|client|wire)|^server\//.test(path))).toEqual([]);
    expect(/WebSocket|indexedDB/.exec(code)).toBeNull();
  });

  test("[T6] Session over DexieStore bundles without Yjs or a socket", async () => {
    const { modules } = await bundle('export { DexieStore, Session } from "holdfast";');
    expect(modules.filter((path) => /node_modules\/(?!zod\/|dexie\/)/.test(path))).toEqual([]);
    expect(modules.filter((path) => /^src\/(sync|client)|^server\//.test(path))).toEqual([]);
  });
});
