import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { takePiece } from "../../src/model/piece.ts";

describe("pieces of a stream's text", () => {
  test("[C26] pieces doubled, late, overlapping and lost: the text held is always a beginning of what was written", () => {
    const cut = fc.record({ from: fc.nat(60), to: fc.nat(60) });
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), fc.array(cut, { maxLength: 40 }), (written, cuts) => {
        let held = "";
        for (const { from, to } of cuts) {
          const at = Math.min(from, written.length);
          const taken = takePiece(held, { at, text: written.slice(at, Math.max(at, to)) });
          expect(taken.is === "gap").toBe(at > held.length);
          if (taken.is === "grown") {
            expect(taken.text.length).toBeGreaterThan(held.length);
            held = taken.text;
          }
          expect(written.startsWith(held)).toBe(true);
        }
        const whole = takePiece(held, { at: 0, text: written });
        expect(whole).toEqual(held === written ? { is: "known" } : { is: "grown", text: written });
      }),
    );
  });
});
