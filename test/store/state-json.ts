import fc from "fast-check";
import type { JsonObject, JsonValue } from "../../src/model/json.ts";

const names = ["a", "b", "plan", "", "/", "~", "~1", "a/b", "__proto__", "constructor", "0", "é"];
const scalar: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constantFrom<JsonValue>(
    null,
    true,
    false,
    0,
    1,
    -1,
    0.1,
    1e21,
    2 ** 31,
    2 ** 53,
    "",
    "text",
    "😀",
    "\0",
  ),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (n === 0 ? 0 : n)),
);

/** A plain object with any of the awkward names, `__proto__` as its own key among them. */
function objectOf(value: fc.Arbitrary<JsonValue>, maxLength: number): fc.Arbitrary<JsonObject> {
  return fc
    .uniqueArray(fc.tuple(fc.constantFrom(...names), value), { maxLength, selector: ([name]) => name })
    .map((entries) => Object.fromEntries(entries));
}

const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    scalar,
    fc.array(tie("value"), { maxLength: 5 }),
    objectOf(tie("value"), 4),
  ),
}));

/** Any value that a state may hold. */
export const anyJson: fc.Arbitrary<JsonValue> = value;
/** Any state. */
export const anyState: fc.Arbitrary<JsonObject> = objectOf(value, 6);
