import { ConnectionError, HoldfastError, ProtocolError } from "../model/errors.ts";
import type { ConnectionTrouble } from "./connection-state.ts";

/** What an application is told as the last error. */
export function errorOfTrouble(trouble: ConnectionTrouble): HoldfastError {
  switch (trouble.kind) {
    case "fault":
      return errorOfFault(trouble);
    case "lost":
      return new ConnectionError(`The connection ended (${trouble.closeCode})`, { retryable: true });
    case "silent":
      return new ConnectionError(`The relay did not answer while ${trouble.during}`, { retryable: true });
    case "unreadable":
      return trouble.cause instanceof ProtocolError
        ? trouble.cause
        : new ProtocolError("A frame of the relay could not be handled", { cause: trouble.cause });
    case "no-token":
      return new HoldfastError("The token source gave no token", { code: "auth", cause: trouble.cause });
  }
}

function errorOfFault(fault: Extract<ConnectionTrouble, { kind: "fault" }>): HoldfastError {
  const limit = fault.limit === undefined ? "" : ` (${fault.limit.name}: ${fault.limit.max})`;
  const message = `${fault.message}${limit}`;
  switch (fault.code) {
    case "unauthenticated":
    case "forbidden":
      return new HoldfastError(message, { code: "auth" });
    case "version":
      return new HoldfastError(message, { code: "unsupported" });
    case "try-again":
      return new ConnectionError(message, { retryable: true });
    default:
      return new ConnectionError(message, { retryable: false });
  }
}
