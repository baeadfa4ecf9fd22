import { LOCAL_SCHEMA, type LocalRows } from "./local-rows.ts";
import { LocalSessionStore } from "./local-session-store.ts";
import { MemoryDatabase } from "./memory-database.ts";

/** Sessions in memory: they last as long as the store does. Needs neither a browser nor any other package. */
export class MemoryStore extends LocalSessionStore {
  constructor() {
    super(new MemoryDatabase<LocalRows>(LOCAL_SCHEMA));
  }
}
