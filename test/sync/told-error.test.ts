import { describe, expect, test } from "vitest";
import {
  ConnectionError,
  HoldfastError,
  ProtocolError,
  RejectedError,
  StorageError,
} from "../../src/model/errors.ts";
import { readError, writeError } from "../../src/sync/told-error.ts";

describe("an error told to another tab", () => {
  const errors = [
    new StorageError("No room", { reason: "quota", cause: new Error("inner") }),
    new RejectedError("Too large", { reason: "too-large" }),
    new ConnectionError("Gone", { retryable: true }),
    new ConnectionError("Refused", { retryable: false }),
    new ProtocolError("What is this"),
    new HoldfastError("The token has expired", { code: "auth" }),
    new HoldfastError("Another version", { code: "unsupported" }),
  ];
  for (const error of errors) {
    test(`[C37, H12] ${error.name} ${error.code} keeps its class, its code and what it carries`, () => {
      const told = readError(structuredClone(writeError(error)));
      expect(told).not.toBe(error);
      expect(told.constructor).toBe(error.constructor);
      expect({ ...told, message: told.message }).toEqual({ ...error, message: error.message });
    });
  }
});
