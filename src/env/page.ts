export type PageSignal =
  | "online"
  | "offline"
  | "visible"
  | "hidden"
  | "freeze"
  | "resume"
  | "pagehide"
  | "pageshow";

/** What the page tells about itself. Outside a page (Node, a worker) it is always online and visible. */
export interface Page {
  readonly online: boolean;
  readonly visible: boolean;
  watch(listener: (signal: PageSignal) => void): () => void;
}
