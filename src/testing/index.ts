export { type Settle, TestClock, type TestClockOptions } from "./clock.ts";
export {
  type TestEnvironment,
  type TestEnvironmentOptions,
  type TestReport,
  TestReporter,
  testEnvironment,
} from "./environment.ts";
export {
  type Accept,
  TestCable,
  type TestCableOptions,
  type TestFrame,
  TestNetwork,
  type TestNetworkOptions,
} from "./network.ts";
export { TestPage } from "./page.ts";
export { type SeededRandom, seededRandom } from "./random.ts";
export { type TestRelay, type TestRelayOptions, testRelay } from "./relay.ts";
export { type RelayStorage, relayStorageConformance, type StorageCase } from "./relay-storage-conformance.ts";
export { type StoreCase, type StoreConformanceOptions, storeConformance } from "./store-conformance.ts";
export { TestTab, TestTabs } from "./tabs.ts";
