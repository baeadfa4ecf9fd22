// As much of a document as React needs to mount components that render text: no layout, no events.
import { act, createElement, type ReactNode, StrictMode } from "react";
import { createRoot } from "react-dom/client";

class LightNode {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly tagName: string;
  readonly namespaceURI = "http://www.w3.org/1999/xhtml";
  readonly style: Record<string, string> = {};
  ownerDocument: unknown;
  parentNode: LightNode | null = null;
  childNodes: LightNode[] = [];
  nodeValue: string;

  constructor(nodeType: number, nodeName: string, nodeValue = "") {
    this.nodeType = nodeType;
    this.nodeName = nodeName;
    this.tagName = nodeName;
    this.nodeValue = nodeValue;
    this.ownerDocument = light;
  }
  get firstChild(): LightNode | null {
    return this.childNodes[0] ?? null;
  }
  get lastChild(): LightNode | null {
    return this.childNodes.at(-1) ?? null;
  }
  get nextSibling(): LightNode | null {
    const around = this.parentNode?.childNodes ?? [];
    return around[around.indexOf(this) + 1] ?? null;
  }
  get textContent(): string {
    return this.nodeType === 3 ? this.nodeValue : this.childNodes.map((child) => child.textContent).join("");
  }
  set textContent(text: string) {
    this.childNodes = [];
    if (text !== "") this.appendChild(new LightNode(3, "#text", text));
  }
  appendChild(child: LightNode): LightNode {
    return this.insertBefore(child, null);
  }
  insertBefore(child: LightNode, before: LightNode | null): LightNode {
    child.parentNode?.removeChild(child);
    const at = before === null ? this.childNodes.length : this.childNodes.indexOf(before);
    this.childNodes.splice(at, 0, child);
    child.parentNode = this;
    return child;
  }
  removeChild(child: LightNode): LightNode {
    this.childNodes = this.childNodes.filter((candidate) => candidate !== child);
    child.parentNode = null;
    return child;
  }
  addEventListener(): void {}
  removeEventListener(): void {}
  setAttribute(): void {}
  removeAttribute(): void {}
}

const light = {
  nodeType: 9,
  nodeName: "#document",
  createElement: (name: string) => new LightNode(1, name.toUpperCase()),
  createElementNS: (_space: string, name: string) => new LightNode(1, name),
  createTextNode: (text: string) => new LightNode(3, "#text", text),
  addEventListener: () => {},
  removeEventListener: () => {},
  activeElement: null,
};

export interface Mounted {
  /** The text that is to be seen now. */
  readonly text: string;
  render(node: ReactNode): Promise<void>;
  /** Runs something outside React, and what it sets off inside. */
  settle(work?: () => unknown): Promise<void>;
  unmount(): Promise<void>;
}

/** Mounts under StrictMode, which runs every effect twice, as applications do while they are developed. */
export async function mount(node: ReactNode): Promise<Mounted> {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  // React asks the window for the event in progress, and the document for the focus.
  Object.assign(globalThis, { window: globalThis, document: light, HTMLIFrameElement: LightNode });
  const container = new LightNode(1, "DIV");
  const root = createRoot(container as unknown as Element);
  const render = (content: ReactNode): Promise<void> =>
    act(async () => root.render(createElement(StrictMode, null, content)));
  await render(node);
  return {
    get text() {
      return container.textContent;
    },
    render,
    settle: (work = () => {}) =>
      act(async () => {
        await work();
      }),
    unmount: () => act(async () => root.unmount()),
  };
}
