import { describe, expect, test } from "vitest";
import { importsOf, sourceFiles } from "../support/source.ts";

/** Where a file lives, and what of our own it may import: its own room and the rooms named here. */
const rooms: { room: RegExp; mayImport: readonly string[] }[] = [
  { room: /^src\/model\//, mayImport: [] },
  { room: /^src\/env\//, mayImport: ["src/model/"] },
  { room: /^src\/wire\//, mayImport: ["src/model/"] },
  { room: /^src\/store\//, mayImport: ["src/model/", "src/env/", "src/wire/"] },
  { room: /^src\/session\//, mayImport: ["src/model/", "src/env/", "src/wire/", "src/store/"] },
  { room: /^src\/sync\//, mayImport: ["src/model/", "src/env/", "src/wire/", "src/store/"] },
  {
    room: /^src\/(open-)?client\.ts$/,
    mayImport: ["src/model/", "src/env/", "src/wire/", "src/store/", "src/session/", "src/sync/"],
  },
  { room: /^src\/(react|adapters|testing)\/|^src\/index\.ts$/, mayImport: ["src/", "server/"] },
  { room: /^server\//, mayImport: ["src/model/", "src/wire/", "src/env/"] },
];
const stateHomes = /^src\/(store|sync)\/state[\w-]*\.ts$|^server\/(channel\/|digest\.ts$)/;
const contractTypes = /^src\/(session\/synced-session|store\/live-store|client)\.ts$/;
const doors = /(^|\/)index\.ts$/;

/** A library, the files that may use it, and those that may name its types because the public contract does. */
const homes: { library: RegExp; home: RegExp; types?: RegExp }[] = [
  { library: /^dexie$/, home: /^src\/store\// },
  { library: /^yjs$/, home: stateHomes, types: contractTypes },
  { library: /^y-protocols(\/|$)/, home: stateHomes, types: contractTypes },
  {
    library: /^lib0(\/|$)/,
    home: /^src\/(wire\/binary|sync\/state[\w-]*)\.ts$|^server\/(channel\/|digest\.ts$)/,
  },
  { library: /^y-websocket$/, home: /^src\/sync\/state[\w-]*\.ts$/ },
  { library: /^ws$/, home: /^server\// },
  { library: /^zod(\/|$)/, home: /^src\/(model|wire)\// },
  { library: /^react(-dom)?(\/|$)/, home: /^src\/react\// },
  { library: /^(better-sqlite3|node:sqlite|pg|ioredis)$/, home: /^server\/(storage|bus)\// },
  { library: /^jose$/, home: /^server\// },
  { library: /^node:/, home: /^server\// },
];

function faultsOf(path: string, imports: readonly string[], values = imports): string[] {
  const own = rooms.find(({ room }) => room.test(path));
  if (own === undefined) return [`${path} stands in no room`];
  const inside = (target: string) =>
    own.room.test(target) || own.mayImport.some((room) => target.startsWith(room));
  const ours = (target: string) => /^(src|server|demo|test|bench|scripts)\//.test(target);
  return imports.flatMap((target) => {
    if (!ours(target)) {
      const home = homes.find(({ library }) => library.test(target));
      if (home === undefined || home.home.test(path)) return [];
      if (!values.includes(target) && home.types?.test(path) === true) return [];
      return [`${path} names ${target}, whose home is ${home.home.source}`];
    }
    if (!inside(target)) return [`${path} reaches up or across to ${target}`];
    if (path.startsWith("server/") && target === "src/env/browser.ts")
      return [`${path} uses the browser's environment`];
    return doors.test(target) ? [`${path} imports a door, ${target}`] : [];
  });
}

function circlesOf(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const at = trail.indexOf(path);
    if (at >= 0) circles.push([...trail.slice(at), path].join(" > "));
    if (at >= 0 || done.has(path)) return;
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  return circles;
}

describe("the floors of the house", () => {
  const graph = new Map(sourceFiles("src", "server").map((path) => [path, importsOf(path)] as const));

  test("every import of src and server goes down, to a file that owns the name, and to a library's own home", () => {
    expect(graph.size).toBeGreaterThan(50);
    const faults = [...graph].flatMap(([path, imports]) =>
      faultsOf(path, imports, importsOf(path, undefined, "values")),
    );
    expect(faults).toEqual([]);
  });

  test("no imports go in a circle, types included", () => {
    expect(circlesOf(graph)).toEqual([]);
  });

  test("the demo uses public doors only", () => {
    const imports = sourceFiles("demo").flatMap((path) =>
      importsOf(path).map((target) => ({ path, target })),
    );
    expect(imports.filter(({ target }) => /^(src|server|test|bench)\//.test(target))).toEqual([]);
  });

  test("the walk sees what it must refuse", () => {
    const seen = importsOf(
      "src/model/x.ts",
      'import type { A } from "../sync/a.ts"; type B = import("dexie").Dexie; export * from "ws";',
    );
    expect(seen).toEqual(["src/sync/a.ts", "dexie", "ws"]);
    expect(faultsOf("src/model/x.ts", seen)).toHaveLength(3);
    expect(faultsOf("src/client.ts", ["yjs"])).toHaveLength(1);
    expect(faultsOf("src/client.ts", ["yjs"], [])).toEqual([]);
    expect(faultsOf("src/session/x.ts", ["src/sync/y.ts", "src/store/index.ts"])).toHaveLength(2);
    expect(faultsOf("server/x.ts", ["src/env/browser.ts", "src/env/clock.ts"])).toHaveLength(1);
    expect(
      circlesOf(
        new Map([
          ["a", ["b"]],
          ["b", ["c"]],
          ["c", ["a"]],
        ]),
      ),
    ).toEqual(["a > b > c > a"]);
  });
});
