// The floors of the house (CONTRIBUTING.md): imports go down only, types included, and no circles.
const floor = (name, from, to, comment) => ({ name, severity: "error", comment, from: { path: from }, to: { path: to } });

module.exports = {
  forbidden: [
    { name: "no-circles", severity: "error", from: {}, to: { circular: true } },
    floor("model-is-the-ground", "^src/model/", "^(src/(?!model/)|server/|demo/)", "F0 knows nothing above it"),
    floor("env-and-wire-apart", "^src/env/", "^(src/(?!model/|env/)|server/|demo/)", "F1: env uses the model only"),
    floor("wire-and-env-apart", "^src/wire/", "^(src/(?!model/|wire/)|server/|demo/)", "F1: wire uses the model only"),
    floor("store-below-sync", "^src/store/", "^(src/(?!model/|env/|wire/|store/)|server/|demo/)", "F2"),
    floor("session-without-sync", "^src/session/", "^(src/(?!model/|env/|wire/|store/|session/)|server/|demo/)", "F3"),
    floor("sync-without-session", "^src/sync/", "^(src/(?!model/|env/|wire/|store/|sync/)|server/|demo/)", "F3"),
    floor("client-below-react", "^src/(open-)?client\\.ts$", "^(src/(react|adapters|testing)/|server/|demo/)", "F4 wires, nothing else"),
    floor("no-doors-inside", "^src/(model|env|wire|store|session|sync)/|^src/(open-)?client\\.ts$", "(^|/)index\\.ts$", "Source imports the file that owns a name"),
    floor("relay-knows-no-client", "^server/", "^(src/(?!model/|wire/|env/)|demo/)", "The relay: model, wire, interfaces of env"),
    floor("relay-never-in-a-browser", "^server/", "^src/env/browser\\.ts$", "The browser's clock is not the relay's"),
    floor("package-knows-no-demo", "^(src|server)/", "^(demo|test|bench|scripts)/", "The demo is a customer"),
    floor("demo-uses-public-doors", "^demo/", "^(src/(?!index\\.ts$|react/index\\.ts$|testing/index\\.ts$|adapters/[a-z-]+\\.ts$)|server/(?!index\\.ts$))", "What the demo cannot import, a customer cannot either"),
    floor("dexie-in-store", "^(src/(?!store/)|server/|demo/)", "^node_modules/dexie/", "One home a library"),
    {
      name: "yjs-in-its-homes",
      severity: "error",
      comment: "One home a library; its types stand where the public contract names them",
      from: { path: "^(src/(?!store/state|sync/state)|server/(?!channel/)|demo/)" },
      to: { path: "^node_modules/yjs/", dependencyTypesNot: ["type-only"] },
    },
    floor("y-websocket-in-sync-state", "^(src/(?!sync/state)|server/|demo/)", "^node_modules/y-websocket/", "One home a library"),
    floor("ws-in-server", "^src/", "^node_modules/ws/", "The SDK takes its socket from outside"),
    floor("node-not-in-src", "^src/(?!testing/)", "^(node:|(fs|path|http|crypto|events|stream|url|os|net)$)", "Browser first"),
    {
      name: "node-in-its-files",
      severity: "error",
      comment: "The relay's core runs in tests in a browser's page: Node comes to it from outside",
      from: { path: "^server/(?!(index|main|relay|node-env|command|jwt|jwt-keys|websocket-[a-z]+|storage/sqlite[a-z-]*)\\.ts$)" },
      to: { dependencyTypes: ["core"], dependencyTypesNot: ["type-only"] },
    },
    { name: "not-to-unresolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
    {
      name: "not-to-dev-dep",
      severity: "error",
      comment: "What ships may not need what is only installed here",
      from: { path: "^(src|server)/" },
      to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["npm-peer", "npm-optional", "npm", "type-only"], pathNot: "/@types/" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(^|/)dist/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "types", "node", "default"] },
  },
};
