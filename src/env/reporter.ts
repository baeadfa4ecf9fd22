export type ReportLevel = "error" | "info" | "debug";

/** Where the SDK tells what happened. Details are facts and sizes, never message text or tokens. */
export interface Reporter {
  report(
    level: ReportLevel,
    event: string,
    detail?: Readonly<Record<string, string | number | boolean | undefined>>,
  ): void;
}

export const silentReporter: Reporter = { report: () => {} };
