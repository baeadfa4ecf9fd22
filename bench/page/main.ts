import { measureLimit } from "./limit.ts";
import { measureOurs } from "./ours.ts";

const bench = { measureLimit, measureOurs };

declare global {
  interface Window {
    bench: typeof bench;
  }
}

window.bench = bench;
document.documentElement.dataset.ready = "true";
