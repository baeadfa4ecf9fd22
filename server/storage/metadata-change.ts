import { type JsonObject, jsonEquals } from "../../src/model/json.ts";
import { utf8Bytes } from "../../src/wire/codec.ts";
import { applyMetadata } from "../../src/wire/metadata.ts";
import type { MetadataChange } from "../../src/wire/shapes.ts";

/** The metadata after the changes, or that nothing changed, or that they would make it too large. */
export function changeMetadata(
  metadata: JsonObject,
  changes: readonly MetadataChange[] | undefined,
  maxBytes: number,
): JsonObject | "same" | "too-large" {
  if (changes === undefined || changes.length === 0) return "same";
  const changed = applyMetadata(metadata, changes);
  if (jsonEquals(changed, metadata)) return "same";
  return utf8Bytes(JSON.stringify(changed)) > maxBytes ? "too-large" : changed;
}
