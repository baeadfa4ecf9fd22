import { describe, expect, test } from "vitest";
import {
  ActorMismatchError,
  ConflictError,
  ConnectionError,
  HoldfastError,
  InvalidInputError,
  InvocationError,
  invalidInput,
  ProtocolError,
  RejectedError,
  StorageError,
} from "../../src/model/errors.ts";
import { EMPTY_HEAD, EMPTY_REVISION, headEquals, revisionEquals } from "../../src/model/revision.ts";

const cause = new Error("why");
const revision = { generation: 1, count: 2 };

describe("errors", () => {
  const all: readonly [HoldfastError, string, string][] = [
    [new HoldfastError("m", { code: "closed", cause }), "HoldfastError", "closed"],
    [new InvalidInputError("m", { path: "a.b", cause }), "InvalidInputError", "invalid-input"],
    [new InvocationError("m", { cause }), "InvocationError", "invocation"],
    [new ConflictError("m", { expected: revision, actual: revision, cause }), "ConflictError", "conflict"],
    [new ActorMismatchError("m", { cause }), "ActorMismatchError", "actor-mismatch"],
    [new ProtocolError("m", { cause }), "ProtocolError", "protocol"],
    [new StorageError("m", { reason: "quota", cause }), "StorageError", "storage"],
    [new RejectedError("m", { reason: "too-large", cause }), "RejectedError", "rejected"],
    [new ConnectionError("m", { retryable: true, cause }), "ConnectionError", "connection"],
  ];
  test.each(all)("[H10] %s is one of ours, with its name, its code and its cause", (error, name, code) => {
    expect(error).toBeInstanceOf(HoldfastError);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ message: "m", name, code, cause });
    expect(String(error)).toBe(`${name}: m`);
  });

  test("[H10] errors without a cause have none", () => {
    expect("cause" in new ProtocolError("m")).toBe(false);
    expect("cause" in invalidInput("a", "is bad")).toBe(false);
  });

  test("[H10] an input error leads with the place", () => {
    expect(invalidInput("state.a", "must be JSON")).toMatchObject({
      path: "state.a",
      message: "state.a must be JSON",
    });
  });

  test("[T1] a conflict carries both revisions, copied and frozen, and says what happened by default", () => {
    const actual = { generation: 1, count: 3, lastId: "x" };
    const error = new ConflictError(undefined, { expected: revision, actual });
    expect(error.message).toBe("Session changed while it was being updated");
    expect(error.expected).toEqual({ generation: 1, count: 2 });
    expect(error.actual).toEqual({ generation: 1, count: 3 });
    expect(Object.isFrozen(error.actual) && !Object.isFrozen(actual)).toBe(true);
  });

  test("[T3, H8] an actor mismatch says no more than that", () => {
    expect(new ActorMismatchError().message).toBe("Session actor does not match");
  });

  test("[H10] errors say which field they carry", () => {
    expect(new StorageError("m", { reason: "blocked" }).reason).toBe("blocked");
    expect(new RejectedError("m", { reason: "deleted" }).reason).toBe("deleted");
    expect(new ConnectionError("m", { retryable: false }).retryable).toBe(false);
  });
});

describe("revisions and heads", () => {
  test("[H3] revisions are equal by generation and count, heads by the last id too", () => {
    expect(EMPTY_REVISION).toEqual({ generation: 0, count: 0 });
    expect(EMPTY_HEAD).toEqual({ generation: 0, count: 0, lastId: null });
    expect(revisionEquals(revision, { ...revision })).toBe(true);
    expect(revisionEquals(revision, { generation: 2, count: 2 })).toBe(false);
    expect(revisionEquals(revision, { generation: 1, count: 1 })).toBe(false);
    expect(headEquals({ ...revision, lastId: "a" }, { ...revision, lastId: "a" })).toBe(true);
    expect(headEquals({ ...revision, lastId: "a" }, { ...revision, lastId: "b" })).toBe(false);
  });
});
