// Visits every state of the protocol's model (test/spin/protocol.pml), then puts each fault in and shows that it is found.
// `npm run model`, or with other bounds: `npm run model -- OPS=2 CUTS=1 CUTS2=0 CRASHES=1`.
import { broken, sound } from "../test/spin/searches.ts";
import { lackingForSpin, searchModel } from "../test/support/spin.ts";

const lacking = lackingForSpin();
if (lacking !== undefined) throw new Error(lacking);

const asked = process.argv.slice(2);
for (const definitions of asked.length > 0 ? [asked] : sound) {
  process.stdout.write(`${definitions.join(" ")}: `);
  const { states, fault, seconds } = await searchModel(definitions);
  console.log(`${states.toLocaleString("en")} states, ${fault ?? "no fault"} (${seconds.toFixed(0)} s)`);
  if (fault !== undefined) process.exitCode = 1;
}
if (asked.length === 0) {
  for (const { what, definitions } of broken) {
    process.stdout.write(`when ${what}: `);
    const { states, fault } = await searchModel(definitions, true);
    console.log(fault === undefined ? "NOT FOUND" : `found after ${states.toLocaleString("en")} states`);
    if (fault === undefined) process.exitCode = 1;
  }
}
