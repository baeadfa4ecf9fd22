/** The suite that every relay storage passes: {@link relayStorageConformance}. */
export { relayStorageConformance, type StorageCase } from "../../server/storage/conformance.ts";
export type { RelayStorage } from "../../server/storage/contract.ts";
