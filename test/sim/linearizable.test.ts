import { describe, expect, test } from "vitest";
import { type AppendCall, violations } from "./linearizable.ts";

const call = (given: Partial<AppendCall> & { ids: readonly string[] }): AppendCall => ({
  client: "a",
  invoked: 0,
  returned: 1,
  outcome: "acknowledged",
  ...given,
});

describe("the checker of histories accepts what can have happened one at a time", () => {
  test.each<[string, AppendCall[], string[][]]>([
    ["nothing", [], []],
    [
      "two one after the other",
      [call({ ids: ["x"] }), call({ ids: ["y"], invoked: 2, returned: 3 })],
      [["x", "y"]],
    ],
    [
      "two at one time, either way round",
      [call({ ids: ["x"], returned: 9 }), call({ ids: ["y"], invoked: 2, returned: 3 })],
      [["y", "x"]],
    ],
    ["an unknown one that stands", [call({ ids: ["x", "y"], outcome: "unknown" })], [["x", "y"]]],
    ["an unknown one that does not", [call({ ids: ["x"], outcome: "unknown" })], [[]]],
    [
      "an unknown one that takes effect long after",
      [
        call({ ids: ["x"], outcome: "unknown", returned: undefined }),
        call({ ids: ["y"], invoked: 2, returned: 3 }),
      ],
      [["y", "x"]],
    ],
    ["a refused one that stands nowhere", [call({ ids: ["x"], outcome: "refused" })], [["y"]]],
    ["one that was replaced away and stands in the old generation", [call({ ids: ["x"] })], [["x"], []]],
    [
      "one on its base, told where it ends",
      [
        call({
          ids: ["y"],
          base: { generation: 0, count: 1, lastId: "x" },
          at: { generation: 0, count: 2, lastId: "y" },
        }),
      ],
      [["x", "y"]],
    ],
  ])("[H2] [H3] %s", (_, calls, log) => {
    expect(violations(calls, log)).toEqual([]);
  });

  test("[H3] a refused message that a whole log brought later is nothing wrong", () => {
    expect(violations([call({ ids: ["x"], outcome: "refused" })], [[], ["x"]], new Set(["x"]))).toEqual([]);
  });
});

describe("the checker of histories rejects what cannot", () => {
  test.each<[string, AppendCall[], string[][], RegExp]>([
    ["[H2] an acknowledged append that is lost", [call({ ids: ["x"] })], [["y"]], /stands nowhere/],
    ["[H2] one of whose messages one is missing", [call({ ids: ["x", "y"] })], [["x"]], /torn/],
    ["[H2] one that another came between", [call({ ids: ["x", "y"] })], [["x", "z", "y"]], /torn/],
    ["[H2] one whose messages changed places", [call({ ids: ["x", "y"] })], [["y", "x"]], /torn/],
    ["[H4] one that stands twice", [call({ ids: ["x"] })], [["x", "x"]], /twice/],
    [
      "[H4] an unknown one that stands twice",
      [call({ ids: ["x"], outcome: "unknown" })],
      [["x", "y", "x"]],
      /twice/,
    ],
    [
      "[H3] an unknown one of which a part stands",
      [call({ ids: ["x", "y"], outcome: "unknown" })],
      [["x"]],
      /torn/,
    ],
    ["[H3] a refused one that stands", [call({ ids: ["x"], outcome: "refused" })], [["x"]], /refused/],
    [
      "[H2] one that stands before what was acknowledged before it was called",
      [call({ ids: ["x"] }), call({ client: "b", ids: ["y"], invoked: 2, returned: 3 })],
      [["y", "x"]],
      /stands before/,
    ],
    [
      "[H2] an unknown one that took effect before it was called",
      [call({ ids: ["x"] }), call({ ids: ["y"], outcome: "unknown", invoked: 2 })],
      [["y", "x"]],
      /stands before/,
    ],
    [
      "[H5] one in an older generation than what was acknowledged before it was called",
      [call({ ids: ["x"] }), call({ ids: ["y"], invoked: 2, returned: 3 })],
      [["y"], ["x"]],
      /stands before/,
    ],
    [
      "[H3] one on another count than its base",
      [call({ ids: ["y"], base: { generation: 0, count: 0, lastId: null } })],
      [["x", "y"]],
      /not on its base/,
    ],
    [
      "[H3] one on the count of its base, behind another message",
      [call({ ids: ["y"], base: { generation: 0, count: 1, lastId: "w" } })],
      [["x", "y"]],
      /not on its base/,
    ],
    [
      "[H3] one in another generation than its base",
      [call({ ids: ["y"], base: { generation: 0, count: 1, lastId: "x" } })],
      [["x"], ["x", "y"]],
      /not on its base/,
    ],
    [
      "[H2] one that stands elsewhere than its acknowledgement said",
      [call({ ids: ["y"], at: { generation: 0, count: 1, lastId: "y" } })],
      [["x", "y"]],
      /told to end/,
    ],
    ["[H4] two that brought the same message", [call({ ids: ["x"] }), call({ ids: ["x"] })], [["x"]], /two/],
  ])("%s", (_, calls, log, says) => {
    expect(violations(calls, log).join("\n")).toMatch(says);
  });
});
