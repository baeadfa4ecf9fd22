import { PROTOCOL_VERSION, type Welcome } from "../src/wire/hello.ts";
import { AuthError, type Identity } from "./authenticator.ts";
import { faultOfRefusal } from "./refusal-fault.ts";
import type { FaultTold } from "./relay-frames.ts";
import type { ConnectionInfo, RelayServices } from "./relay-services.ts";
import type { RelayStorage } from "./storage/contract.ts";

/** What a connection says of itself before it is let in. */
export interface Claim {
  readonly protocol: number;
  readonly token?: string | undefined;
  readonly actorId: string | undefined;
}

/** Where the actor's catalog stands, and what tells its positions from those of another history. */
export type CatalogPlace = Pick<Welcome, "cursor" | "marks">;

export type Greeting =
  | { readonly welcome: true; readonly identity: Identity; readonly at: CatalogPlace }
  | { readonly welcome: false; readonly fault: FaultTold };

/** Whether a hello is welcome (rules P4–P6). Never rejects. */
export async function greet(hello: Claim, services: RelayServices, info: ConnectionInfo): Promise<Greeting> {
  const foreign = versionFault(hello.protocol);
  if (foreign !== undefined) return { welcome: false, fault: foreign };
  let identity: Identity;
  try {
    identity = await services.identify(hello, info);
  } catch (error) {
    // Its name alone: what else an error says may hold the token.
    if (!(error instanceof AuthError)) {
      const name = error instanceof Error ? error.name : typeof error;
      services.reporter.report("error", "authentication-failed", { error: name });
    }
    return { welcome: false, fault: faultOfRefusal(error) };
  }
  try {
    return { welcome: true, identity, at: await catalogPlace(services.storage, identity.actorId) };
  } catch (error) {
    services.reporter.report("error", "read-failed", { frame: "hello", error: String(error) });
    return { welcome: false, fault: { code: "try-again", message: "The relay's storage could not be read" } };
  }
}

/** What another version of the protocol than this relay's is told (rule P6). */
export function versionFault(protocol: number): FaultTold | undefined {
  if (protocol === PROTOCOL_VERSION) return undefined;
  const message = `This relay speaks version ${PROTOCOL_VERSION} of the protocol, the client ${protocol}`;
  return { code: "version", message, protocol: PROTOCOL_VERSION };
}

async function catalogPlace(storage: RelayStorage, actor: string): Promise<CatalogPlace> {
  // The marks first: they speak for every position up to the one told, whatever is written in between.
  const marks = await storage.marks?.(actor);
  const cursor = await storage.position(actor);
  return marks === undefined ? { cursor } : { cursor, marks: [...marks] };
}
