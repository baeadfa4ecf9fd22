import type { ClientFrame, OpFrame } from "../src/wire/client-frames.ts";
import { writeFrame } from "../src/wire/codec.ts";
import type { FaultCode } from "../src/wire/fault.ts";
import type { Task } from "./answer-line.ts";
import { pageBounds } from "./limits.ts";
import { takeOp } from "./op-intake.ts";
import {
  ackText,
  catalogPageText,
  generationPageText,
  notAnsweredText,
  pageText,
  refusalText,
} from "./relay-frames.ts";
import type { Participant, RelayServices } from "./relay-services.ts";
import type { Absent } from "./storage/contract.ts";

export type ReadFrame = Extract<
  ClientFrame,
  { type: "pull" | "read-generation" | "list-generations" | "catalog" }
>;

/** An op, checked at the wall, and how its answer is said. */
export function opTask(
  frame: OpFrame,
  text: string,
  by: { services: RelayServices; actor: string; participant: Participant },
): Task {
  const { services, actor, participant } = by;
  const taken = takeOp(frame, text, {
    actor,
    limits: services.limits,
    checkState: (update) => services.channels.check(update),
    digest: services.digest,
  });
  if ("refused" in taken) return { kind: "say", text: refusalText(frame, taken.refused) };
  // What is kept for the answer is the op's name, not its messages.
  const name = { opId: frame.opId, session: frame.session };
  const rebases = (frame.type === "append" || frame.type === "replace") && frame.rebases === true;
  return {
    kind: "op",
    begin: (answered) =>
      services.turns.take(placeOf(actor, frame.session), participant, (ended) =>
        services.submit(taken.write, participant, (answer) => {
          answered(answer.ok ? ackText(name, answer) : refusalText(name, answer));
          ended(rebases && !answer.ok && answer.code === "conflict" ? "comes-again" : "over");
        }),
      ),
  };
}

function placeOf(actor: string, session: string): string {
  return `${actor.length}:${actor}${session}`;
}

/** The frame that answers a request. Rejects when storage fails. */
export async function answerOf(frame: ReadFrame, services: RelayServices, actor: string): Promise<string> {
  const { storage, limits } = services;
  const { id } = frame;
  if (frame.type === "catalog") {
    const maxBytes = pageBounds(limits).maxBytes;
    const { cursor } = frame;
    return catalogPageText(
      id,
      await storage.catalog(actor, { cursor, maxEntries: limits.pageEntries, maxBytes }),
    );
  }
  const { session } = frame;
  if (frame.type === "pull") {
    const { incarnation, have, stateCursor } = frame;
    const question = { have, stateCursor, ...pageBounds(limits) };
    const page = await storage.pull({ actor, session, incarnation }, question);
    return "absent" in page ? absentText(id, page) : pageText(frame, page);
  }
  const place = { actor, session, incarnation: frame.incarnation };
  if (frame.type === "read-generation") {
    const { generation, from } = frame;
    const page = await storage.readGeneration(place, { generation, from, ...pageBounds(limits) });
    return "absent" in page ? absentText(id, page) : generationPageText(frame, page);
  }
  const generations = await storage.listGenerations(place, limits.maxGenerationsListed);
  if ("absent" in generations) return absentText(id, generations);
  return writeFrame({ type: "generations", id, generations: [...generations] });
}

export function notNow(id: string): string {
  return notAnsweredText(id, "try-again", "The relay's storage could not be read");
}

function absentText(id: string, { absent }: Absent): string {
  return notAnsweredText(id, absent, ABSENT[absent]);
}

const ABSENT: { readonly [Code in Absent["absent"]]: string } & { readonly [code in FaultCode]?: string } = {
  "unknown-session": "There is no such session",
  deleted: "This life of the session is over",
  malformed: "There is no such generation",
};
