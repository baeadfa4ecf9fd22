/** What the command takes from its process. */
export interface CommandProcess {
  readonly argv: readonly string[];
  readonly env: { readonly [name: string]: string | undefined };
  out(text: string): void;
  err(text: string): void;
  /** Resolves when the process is asked to end. */
  untilAsked(): Promise<void>;
  nowMs(): number;
}
