import { describe, expect, test } from "vitest";
import { broken, sound } from "../spin/searches.ts";
import { lackingForSpin, searchModel } from "../support/spin.ts";

const lacking = lackingForSpin();
const needed = lacking === undefined ? "" : ` (skipped: ${lacking})`;

// Spin is a package of Debian's; only a developer's own machine may do without.
describe.skipIf(lacking !== undefined && process.env.CI === undefined)(
  `the protocol's model${needed}`,
  () => {
    test.each(sound)("[H2, H3, H4, H5] no state breaks a rule, with %s %s %s", async (...definitions) => {
      const { states, fault } = await searchModel(definitions);
      console.log(`${definitions.join(" ")}: ${states} states`);
      expect(fault).toBeUndefined();
      expect(states).toBeGreaterThan(3_000_000);
    });

    test.each(broken)("[P13, P14, P20, P21, P32] it is found when $what", async ({ definitions }) => {
      expect((await searchModel(definitions, true)).fault).toBeDefined();
    });
  },
);
