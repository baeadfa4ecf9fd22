// What an application would import, put where a test outside the browser can reach it.
import { Dexie } from "dexie";
import * as holdfast from "holdfast";
import * as testing from "holdfast/testing";
import { WebsocketProvider } from "y-websocket";
import * as yjs from "yjs";
import { desk } from "./desk.ts";
import { writer } from "./writer.ts";

const libraries = { holdfast, testing, yjs, Dexie, WebsocketProvider };

declare global {
  interface Window {
    /** The public doors and the stock libraries, set once the page has loaded. */
    libraries: typeof libraries;
    holdfast: typeof holdfast;
    /** A small application on the SDK. */
    desk: typeof desk;
    /** Writes without end and tells a witness. */
    writer: typeof writer;
    /** Messages that a test keeps here. */
    kept: readonly holdfast.Message[];
    /** A stock client that a test keeps here. */
    stock: { readonly doc: yjs.Doc; readonly provider: WebsocketProvider };
  }
}

window.libraries = libraries;
window.holdfast = holdfast;
window.desk = desk;
window.writer = writer;
document.documentElement.dataset.ready = "true";
