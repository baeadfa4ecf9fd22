/** What a browser promises of stored data. Missing where it has no such interface (WebKitGTK, Node). */
export interface Persistence {
  /** Whether it promised not to evict this origin when room runs out. */
  persisted(): Promise<boolean>;
  /** Asks it to. Some browsers ask the user, so it is asked once, when there is something to keep. */
  persist(): Promise<boolean>;
}
