import { useSyncExternalStore } from "react";

/** A value that lives outside React, in the shape `useSyncExternalStore` asks for. */
export interface Watched<T> {
  readonly subscribe: (listener: () => void) => () => void;
  /** The present value: the same object for as long as nothing in it changed. */
  readonly current: () => T;
}

/**
 * Wraps a source whose `read` is always up to date but may build a new object each time.
 * Every `current` reads the source itself, so that no change between rendering and subscribing
 * is missed and all components of one render see the same value; `same` keeps the object stable.
 */
export function watched<T>(
  subscribe: (listener: () => void) => () => void,
  read: () => T,
  same: (before: T, now: T) => boolean,
): Watched<T> {
  let held: { value: T } | undefined;
  return {
    subscribe,
    current: () => {
      const value = read();
      if (held === undefined || !same(held.value, value)) held = { value };
      return held.value;
    },
  };
}

export function useWatched<T>(source: Watched<T>): T {
  return useSyncExternalStore(source.subscribe, source.current, source.current);
}

/** A source that never changes: what a hook watches while it is given nothing. */
export function constant<T>(value: T): Watched<T> {
  return { subscribe: () => () => {}, current: () => value };
}
