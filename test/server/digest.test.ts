import fc from "fast-check";
import { expect, test } from "vitest";
import { DIGEST_LENGTH, portableDigest } from "../../server/digest.ts";
import { nodeDigest } from "../../server/node-env.ts";

test("[P14] both ways to tell contents apart give the same, for any text: a relay may change from one to the other", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.string()), (text) => {
      expect(portableDigest(text)).toBe(nodeDigest(text));
      expect(portableDigest(text)).toHaveLength(DIGEST_LENGTH);
    }),
  );
});
