import { measureLimit } from "./limit.ts";
import { ours } from "./ours.ts";

const bench = { measureLimit, ours };

declare global {
  interface Window {
    bench: typeof bench;
  }
}

window.bench = bench;
document.documentElement.dataset.ready = "true";
