import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import * as z from "zod/mini";
import { ClientFrame } from "../../src/wire/client-frames.ts";
import { FAULTS } from "../../src/wire/fault.ts";
import { PROTOCOL_VERSION } from "../../src/wire/hello.ts";
import { RelayFrame } from "../../src/wire/relay-frames.ts";

/**
 * What both directions look like, as one digest a version. A peer of an older build reads by its own shapes: when
 * this digest changes after a release, either older peers can still read every frame (then say so in the commit and
 * put the new digest here), or PROTOCOL_VERSION goes up and a new line comes below.
 */
const digests: Readonly<Record<number, string>> = {
  1: "951e4e3d12492997",
};

function digestOf(...shapes: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(shapes)).digest("hex").slice(0, 16);
}

describe("the protocol's shapes and its version", () => {
  const json = (schema: z.ZodMiniType) => z.toJSONSchema(schema, { unrepresentable: "any", io: "input" });

  test("[P6] frames have the shapes that this protocol version promised", () => {
    const digest = digestOf(json(ClientFrame), json(RelayFrame), FAULTS);
    expect({ [PROTOCOL_VERSION]: digest }).toEqual({ [PROTOCOL_VERSION]: digests[PROTOCOL_VERSION] });
  });

  test("[P6] a changed field changes the digest", () => {
    const one = z.object({ type: z.literal("x"), id: z.string() });
    const two = z.object({ type: z.literal("x"), id: z.optional(z.string()) });
    expect(digestOf(json(one))).not.toBe(digestOf(json(two)));
  });
});
