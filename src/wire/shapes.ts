import * as z from "zod/mini";
import { isValidId } from "../model/ids.ts";
import type { JsonObject, JsonValue } from "../model/json.ts";

/** Identifiers of sessions, messages, ops and actors: 1 to 128 characters, not blank, and storable as they are. */
export const Id = z
  .string()
  .check(
    z.minLength(1),
    z.maxLength(128),
    z.refine(isValidId, "is blank, or holds NUL or half a surrogate pair"),
  );
/** Counts, generations, cursors and positions: whole numbers from 0. */
export const Count = z.int().check(z.nonnegative());

/** Where a log stands: what an append names on the wire (rule P20). */
export const Head = z.object({ generation: Count, count: Count, lastId: z.nullable(Id) });

/** A serialised message. The relay checks what it relies on and keeps the rest as it is. */
export const WireMessage = z.looseObject({
  id: Id,
  role: z.enum(["developer", "user", "assistant", "tool"]),
  content: z.array(z.looseObject({ type: z.string() })),
  createdAt: z.string(),
});
export type WireMessage = z.infer<typeof WireMessage>;

/** A message as it stands in a log, with the op that put it there. */
export const LoggedMessage = z.object({ opId: Id, message: WireMessage });
export type LoggedMessage = z.infer<typeof LoggedMessage>;

// Frames come out of JSON.parse, so what is inside is JSON already: kept by identity, keys like "__proto__" untouched.
const Json = z.custom<JsonValue>((value) => value !== undefined);
export const JsonRecord = z.custom<JsonObject>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
);

/** One change of a metadata leaf: a JSON Pointer, and the new value; no value removes it (rule P27). */
export const MetadataChange = z.object({ at: z.string(), value: z.optional(Json) });
export type MetadataChange = z.infer<typeof MetadataChange>;

/** A binary Yjs update (format 1), as base64. */
export const Update = z.base64();

/** The first `count` messages of generation `generation`, taken over unchanged (rule P24). */
export const Kept = z.object({ generation: Count, count: Count });
export type Kept = z.infer<typeof Kept>;

/** What identifies the op and its session in every op frame. `incarnation` is null until the relay has named one (rule P15). */
export const opFields = { opId: Id, session: Id, incarnation: z.nullable(Id) };
