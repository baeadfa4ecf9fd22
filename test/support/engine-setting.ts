import { WebSocket } from "ws";
import type { Client } from "../../src/client.ts";
import { openClient } from "../../src/open-client.ts";
import { type CutProxy, openCutProxy } from "./cut-proxy.ts";
import { openPageServer, type PageServer } from "./page-server.ts";
import { type RelayProcess, startRelayProcess } from "./relay-process.ts";

/** What tests of any engine stand on: a relay, the page's server, a cable that can be cut. */
export interface EngineSetting {
  readonly relay: RelayProcess;
  readonly site: PageServer;
  readonly cable: CutProxy;
  /** Another device of an actor, on the relay itself: it goes on when the cable is cut. */
  openPhone(actorId: string): Promise<Client>;
  close(): Promise<void>;
}

export async function openEngineSetting(): Promise<EngineSetting> {
  const [relay, site] = await Promise.all([startRelayProcess(), openPageServer()]);
  const cable = await openCutProxy(relay.port);
  const phones: Client[] = [];
  return {
    relay,
    site,
    cable,
    openPhone: async (actorId) => {
      const phone = await openClient({ url: relay.url, actorId, storage: "memory", WebSocket });
      phones.push(phone);
      return phone;
    },
    close: async () => {
      await Promise.all(phones.map((phone) => phone.close()));
      await cable.close();
      await Promise.all([relay.dispose(), site.close()]);
    },
  };
}
