// Two things that biome does not see: promises nobody waits for, and the outside world used past env/.
import tseslint from "typescript-eslint";

const outside = "comes in through env/: src/env/browser.ts and server/node-env.ts are its only homes";
const globals = ["setTimeout", "setInterval", "WebSocket", "window", "document", "localStorage", "BroadcastChannel"];

export default tseslint.config(
  { ignores: ["**/dist/", "**/node_modules/", "bench/peers/", "test-results/", "coverage/"] },
  { linterOptions: { reportUnusedDisableDirectives: "off" } },
  {
    files: ["**/*.ts", "**/*.tsx"],
    languageOptions: { parser: tseslint.parser, parserOptions: { project: "./tsconfig.json", tsconfigRootDir: import.meta.dirname } },
    plugins: { "@typescript-eslint": tseslint.plugin },
    rules: {
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-misused-promises": ["error", { checksVoidReturn: { attributes: false, arguments: false } }],
    },
  },
  {
    files: ["src/**/*.ts", "src/**/*.tsx", "server/**/*.ts"],
    ignores: ["src/env/browser.ts", "src/model/ids.ts", "server/node-env.ts"],
    rules: {
      "no-restricted-globals": ["error", ...globals.map((name) => ({ name, message: `${name} ${outside}.` }))],
      "no-restricted-properties": [
        "error",
        { object: "Date", property: "now", message: `Date.now ${outside}.` },
        { object: "Math", property: "random", message: `Math.random ${outside}.` },
        { object: "performance", property: "now", message: `performance.now ${outside}.` },
        ...globals.map((property) => ({ object: "globalThis", property, message: `${property} ${outside}.` })),
      ],
      "no-restricted-syntax": [
        "error",
        { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: `new Date() ${outside}.` },
      ],
    },
  },
);
