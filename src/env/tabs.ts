/** A named broadcast between the tabs of one browser profile; the sender does not hear itself. */
export interface TabChannel {
  post(data: unknown): void;
  close(): void;
}

/** What tabs of one origin share: locks that queue, and channels. */
export interface Tabs {
  /** False where Web Locks are missing: then a tab stands alone. */
  readonly locksAvailable: boolean;
  /**
   * Waits in the queue for the exclusive lock, holds it while `work` runs, releases it after.
   * Aborting the signal leaves the queue (the promise rejects) but does not end work that has begun.
   */
  lock<T>(name: string, work: () => Promise<T>, options?: { signal?: AbortSignal }): Promise<T>;
  channel(name: string, received: (data: unknown) => void): TabChannel;
}
