/** Searches that must find nothing. */
export const sound: readonly (readonly string[])[] = [
  ["OPS=1", "CUTS=1", "CRASHES=1"],
  ["OPS=2", "CUTS=0", "CRASHES=0"],
];

/** Faults put into the protocol, and the smallest search that must find each. */
export const broken: readonly { readonly what: string; readonly definitions: readonly string[] }[] = [
  {
    what: "the relay does not check the head of an append",
    definitions: ["NO_HEAD_CHECK", "CUTS=0", "CRASHES=0"],
  },
  {
    what: "the relay checks generation and count, and not the last message id",
    definitions: ["NO_ID_CHECK", "CUTS=0", "CRASHES=0"],
  },
  {
    what: "the relay acknowledges before the commit",
    definitions: ["ACK_EARLY", "OPS=1", "CUTS=0", "CRASHES=1"],
  },
  {
    what: "the relay does not remember ops",
    definitions: ["NO_LEDGER", "OPS=1", "CUTS=1", "CRASHES=0"],
  },
  {
    what: "the relay remembers a refused op as if it were applied",
    definitions: ["KEEPS_REFUSED", "CUTS=0", "CRASHES=0"],
  },
  {
    what: "a device takes a push that does not continue what it holds",
    definitions: ["PUSH_ANYTHING", "OPS=1", "CUTS=1", "CRASHES=0"],
  },
  {
    what: "a device does not catch up after it has connected again",
    definitions: ["NO_CATCH_UP", "OPS=1", "CUTS=1", "CUTS2=0", "CRASHES=0"],
  },
  {
    what: "a checkpoint that diverged is appended as it is",
    definitions: ["NO_DIVERGENCE", "CUTS=0", "CRASHES=0"],
  },
];
