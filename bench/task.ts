/** What the load generator is asked to do, against which relay. */
export interface Task {
  readonly task: "closed" | "paced" | "fill" | "catch-up" | "reconnect";
  readonly kind: "ref" | "ours";
  readonly port: number;
  readonly writers?: number;
  readonly inFlight?: number;
  readonly rate?: number;
  readonly seconds?: number;
  readonly messages?: number;
  readonly sessions?: number;
}
