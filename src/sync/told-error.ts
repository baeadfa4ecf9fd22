import {
  ConnectionError,
  HoldfastError,
  type HoldfastErrorCode,
  ProtocolError,
  RejectedError,
  StorageError,
  type StorageErrorReason,
} from "../model/errors.ts";

/** An error as one tab tells it to another: what an application may switch on, without its cause. */
export type ToldError =
  | { readonly kind: "storage"; readonly message: string; readonly reason: StorageErrorReason }
  | { readonly kind: "rejected"; readonly message: string; readonly reason: string }
  | { readonly kind: "connection"; readonly message: string; readonly retryable: boolean }
  | { readonly kind: "protocol"; readonly message: string }
  | { readonly kind: "other"; readonly message: string; readonly code: HoldfastErrorCode };

export function writeError(error: HoldfastError): ToldError {
  const { message, code } = error;
  if (error instanceof StorageError) return { kind: "storage", message, reason: error.reason };
  if (error instanceof RejectedError) return { kind: "rejected", message, reason: error.reason };
  if (error instanceof ConnectionError) return { kind: "connection", message, retryable: error.retryable };
  if (error instanceof ProtocolError) return { kind: "protocol", message };
  return { kind: "other", message, code };
}

export function readError(told: ToldError): HoldfastError {
  switch (told.kind) {
    case "storage":
      return new StorageError(told.message, { reason: told.reason });
    case "rejected":
      return new RejectedError(told.message, { reason: told.reason });
    case "connection":
      return new ConnectionError(told.message, { retryable: told.retryable });
    case "protocol":
      return new ProtocolError(told.message);
    case "other":
      return new HoldfastError(told.message, { code: told.code });
  }
}
