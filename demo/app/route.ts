import { useSyncExternalStore } from "react";

export type Route =
  | { readonly kind: "list" }
  | { readonly kind: "new" }
  | { readonly kind: "conversation"; readonly id: string };

export function parseRoute(hash: string): Route {
  if (hash === "#/new") return { kind: "new" };
  const id = /^#\/c\/(.+)$/.exec(hash)?.[1];
  if (id === undefined) return { kind: "list" };
  try {
    return { kind: "conversation", id: decodeURIComponent(id) };
  } catch {
    // An address cut in the middle of an escape leads nowhere.
    return { kind: "list" };
  }
}

export function hrefOf(route: Route): string {
  switch (route.kind) {
    case "list":
      return "#/";
    case "new":
      return "#/new";
    case "conversation":
      return `#/c/${encodeURIComponent(route.id)}`;
  }
}

export function go(route: Route): void {
  location.hash = hrefOf(route);
}

/** Changes the address without leaving the former one in the history. */
export function goInstead(route: Route): void {
  location.replace(hrefOf(route));
}

export function useRoute(): Route {
  const hash = useSyncExternalStore(subscribe, () => location.hash);
  return parseRoute(hash);
}

function subscribe(listener: () => void): () => void {
  addEventListener("hashchange", listener);
  return () => removeEventListener("hashchange", listener);
}
