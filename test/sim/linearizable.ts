import type { Head } from "../../src/model/revision.ts";

/** The ids of each generation's messages, the oldest generation first. */
export type Log = readonly (readonly string[])[];

/** One append as its caller saw it. */
export interface AppendCall {
  readonly client: string;
  readonly ids: readonly string[];
  /** Moments, counted over all that happened. */
  readonly invoked: number;
  readonly returned?: number | undefined;
  readonly outcome: "acknowledged" | "refused" | "unknown";
  /** The head on which alone it may stand. */
  readonly base?: Head | undefined;
  /** The head that the acknowledgement told. */
  readonly at?: Head | undefined;
}

interface Place {
  readonly generation: number;
  readonly index: number;
}

/**
 * Why the appends cannot have happened one at a time, each between its call and its answer, in the order of the log;
 * empty when they can. An acknowledged append stands once, a refused one nowhere, one whose outcome is unknown once or
 * nowhere. `whole`: ids that a later whole log may have brought, without their append.
 */
export function violations(
  calls: readonly AppendCall[],
  log: Log,
  whole: ReadonlySet<string> = new Set(),
): string[] {
  const found: string[] = [];
  const placed: { readonly call: AppendCall; readonly place: Place }[] = [];
  const taken = new Map<string, AppendCall>();
  for (const call of calls) {
    if (call.ids.length === 0) continue;
    const free = call.outcome !== "acknowledged" && call.ids.some((id) => whole.has(id));
    if (free) continue;
    const place = firstPlace(call.ids, log);
    const name = `${call.client}'s append of ${call.ids.join(" ")}`;
    if (place === undefined) {
      if (call.outcome === "acknowledged") found.push(`${name} was acknowledged and stands nowhere`);
      continue;
    }
    if (call.outcome === "refused") {
      found.push(`${name} was refused and stands in generation ${place.generation}`);
      continue;
    }
    const standing = log[place.generation] ?? [];
    if (call.ids.some((id, n) => standing[place.index + n] !== id)) found.push(`${name} is torn`);
    for (const [generation, ids] of log.entries())
      for (const id of call.ids)
        if (ids.indexOf(id) !== ids.lastIndexOf(id)) found.push(`${id} stands twice in ${generation}`);
    for (const id of call.ids) {
      if (taken.has(id)) found.push(`${id} was appended by two`);
      taken.set(id, call);
    }
    checkHeads(call, place, log, (what) => found.push(`${name} ${what}`));
    placed.push({ call, place });
  }
  return [...found, ...outOfOrder(placed)];
}

/** Where the first of them stands in the first generation that has one of them. */
function firstPlace(ids: readonly string[], log: Log): Place | undefined {
  for (const [generation, standing] of log.entries()) {
    const at = ids.map((id) => standing.indexOf(id)).filter((index) => index >= 0);
    if (at.length > 0) return { generation, index: Math.min(...at) };
  }
  return undefined;
}

function checkHeads(
  { base, at, ids }: AppendCall,
  { generation, index }: Place,
  log: Log,
  tell: (what: string) => void,
): void {
  const before = index === 0 ? null : (log[generation]?.[index - 1] ?? null);
  if (
    base !== undefined &&
    (base.generation !== generation || base.count !== index || base.lastId !== before)
  )
    tell(`stands at ${generation}/${index}, not on its base ${base.generation}/${base.count}`);
  if (at !== undefined && (at.generation !== generation || at.count !== index + ids.length))
    tell(`stands at ${generation}/${index}, and was told to end at ${at.generation}/${at.count}`);
}

/** What was answered before another was called stands before it. */
function outOfOrder(placed: readonly { readonly call: AppendCall; readonly place: Place }[]): string[] {
  const found: string[] = [];
  const ended = placed
    .filter(({ call }) => call.outcome === "acknowledged" && call.returned !== undefined)
    .sort((a, b) => Number(a.call.returned) - Number(b.call.returned));
  let next = 0;
  let last: (typeof placed)[number] | undefined;
  for (const one of [...placed].sort((a, b) => a.call.invoked - b.call.invoked)) {
    for (; next < ended.length && Number(ended[next]?.call.returned) < one.call.invoked; next++) {
      const candidate = ended[next];
      if (candidate !== undefined && (last === undefined || isBefore(last.place, candidate.place)))
        last = candidate;
    }
    if (last !== undefined && !isBefore(last.place, one.place))
      found.push(
        `${one.call.client}'s append of ${one.call.ids.join(" ")} stands before what was acknowledged before it was called: ${last.call.ids.join(" ")}`,
      );
  }
  return found;
}

function isBefore(a: Place, b: Place): boolean {
  return a.generation < b.generation || (a.generation === b.generation && a.index < b.index);
}
