import { describe, expect, test } from "vitest";
import { broken, sound } from "../spin/searches.ts";
import { searchModel } from "../support/spin.ts";

// Spin is a package of Debian's: `npm test` installs it there, and says so where it leaves this file out.
describe("the protocol's model", () => {
  test.each(sound)("[H2, H3, H4, H5] no state breaks a rule, with %s %s %s", async (...definitions) => {
    const { states, fault } = await searchModel(definitions);
    console.log(`${definitions.join(" ")}: ${states} states`);
    expect(fault).toBeUndefined();
    expect(states).toBeGreaterThan(3_000_000);
  });

  test.each(broken)("[P13, P14, P20, P21, P32] it is found when $what", async ({ definitions }) => {
    expect((await searchModel(definitions, true)).fault).toBeDefined();
  });
});
