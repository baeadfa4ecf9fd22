/** Why the relay can never accept something, in words for the person who did it. */
export function reasonWords(code: string | undefined): string {
  switch (code) {
    case "too-large":
      return "It is larger than the relay takes.";
    case "conflict":
      return "Somebody else wrote in between.";
    case "deleted":
    case "unknown-session":
      return "The conversation was deleted on another device.";
    case "forbidden":
      return "The relay does not allow it.";
    case undefined:
      return "The relay refused it.";
    default:
      return `The relay refused it (${code}).`;
  }
}
