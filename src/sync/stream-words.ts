import type { RunningStream } from "../store/running-streams.ts";
import type { FaultCode } from "../wire/fault.ts";

/** What tabs say to each other of messages in the making. `afar`: it came over the relay, by the tab that holds it. */
export type StreamWord =
  | {
      readonly say: "piece";
      readonly session: string;
      readonly incarnation: string | null;
      readonly stream: Omit<RunningStream, "text">;
      /** UTF-16 code units that stand before it. */
      readonly at: number;
      readonly text: string;
      readonly afar?: boolean;
    }
  | {
      readonly say: "end";
      readonly session: string;
      readonly id: string;
      readonly kept: boolean;
      readonly afar?: boolean;
    }
  /** Without an id: of all that run. */
  | { readonly say: "ask"; readonly id: string | undefined; readonly afar?: boolean }
  /** To the tab that writes it: the relay carries it no further. */
  | { readonly say: "refused"; readonly id: string; readonly code: FaultCode; readonly afar: true };

/** The channel on which tabs say it. */
export function streamChannelOf(name: string): string {
  return `${name}/streams`;
}
