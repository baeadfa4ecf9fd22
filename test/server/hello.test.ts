import { describe, expect, test } from "vitest";
import { AuthError, type Authenticator } from "../../server/authenticator.ts";
import { FAULTS } from "../../src/wire/fault.ts";
import { append } from "./ops.ts";
import { type RawClient, testRelay } from "./raw-client.ts";

const hello = { type: "hello", protocol: 1, actorId: "ann", device: "d" };

/** Tokens are `actor` or `actor until ms`; some words refuse. */
const authenticate: Authenticator = async (token) => {
  if (token === undefined) throw new AuthError("missing");
  if (token === "old") throw new AuthError("expired");
  if (token === "barred") throw new AuthError("forbidden");
  if (token === "later") throw new AuthError("unavailable");
  if (token === "bug") throw new TypeError("not a key");
  const [actorId = "", until] = token.split(" until ");
  return { actorId, ...(until === undefined ? {} : { expiresAt: new Date(Number(until)) }) };
};

function refusedAs(client: RawClient, code: keyof typeof FAULTS): void {
  expect(client.frames.at(-1)).toMatchObject({ type: "fault", code });
  expect(client.closed).toEqual({ code: FAULTS[code].close, reason: code });
}

describe("before the welcome", () => {
  test("[P7] the welcome names the storage, the limits and the catalog position", async () => {
    const relay = await testRelay({ limits: { pageMessages: 7 } });
    const first = await relay.client();
    await first.expect("ack", append("s", ["a"]));
    const second = await relay.client();
    expect(second.frames).toEqual([
      {
        type: "welcome",
        protocol: 1,
        actorId: "ann",
        storeId: relay.core.storeId,
        cursor: 1,
        limits: {
          maxMessageBytes: 1024 ** 2,
          maxFrameBytes: 4 * 1024 ** 2,
          maxOpBytes: 64 * 1024 ** 2,
          maxStateBytes: 5 * 1024 ** 2,
          maxMetadataBytes: 64 * 1024,
          pageMessages: 7,
        },
        streams: true,
      },
    ]);
  });

  test("[P3] nothing but a hello is accepted first", async () => {
    const relay = await testRelay();
    for (const frame of [append("s", ["a"]), { type: "ping", id: 1 }, { type: "hello" }, "no frame"]) {
      const client = relay.connect();
      await client.ask(frame as never);
      refusedAs(client, "malformed");
    }
    const binary = relay.connect();
    binary.sayRaw(Uint8Array.of(1, 2, 3));
    refusedAs(binary, "malformed");
    expect(await relay.storage.position("ann")).toBe(0);
  });

  test("[P3] what does not wait for the welcome ends the connection", async () => {
    const relay = await testRelay();
    const client = relay.connect();
    client.say(hello);
    client.say(append("s", ["a"]));
    refusedAs(client, "malformed");
    await relay.settle();
    expect(await relay.storage.position("ann")).toBe(0);
    expect(relay.core.size.connections).toBe(0);
  });

  test("[P3] a hello longer than its limit is not read", async () => {
    const relay = await testRelay({ limits: { maxHelloBytes: 500 } });
    const client = relay.connect();
    await client.ask({ ...hello, token: "x".repeat(500) });
    expect(client.frames).toMatchObject([{ code: "too-large", limit: { name: "maxHelloBytes", max: 500 } }]);
    expect(client.closed?.code).toBe(4413);
  });

  test("[P3] who says nothing in time is closed, and who was welcomed is not", async () => {
    const relay = await testRelay({ limits: { authTimeoutMs: 1_000 } });
    const silent = relay.connect();
    const polite = await relay.client();
    await relay.clock.advance(999);
    expect(silent.closed).toBeUndefined();
    await relay.clock.advance(1);
    refusedAs(silent, "unauthenticated");
    expect(polite.closed).toBeUndefined();
  });

  test("[P3] a token that takes too long to check is met with try-again", async () => {
    const relay = await testRelay({
      authenticate: () => new Promise(() => {}),
      limits: { authTimeoutMs: 1_000 },
    });
    const client = relay.connect();
    await client.hello("ann", "ann");
    await relay.clock.advance(1_000);
    refusedAs(client, "try-again");
  });

  test("[P6] another protocol version is told this one's and closed", async () => {
    const relay = await testRelay();
    const client = relay.connect();
    await client.ask({ ...hello, protocol: 2 });
    expect(client.frames).toMatchObject([{ type: "fault", code: "version", protocol: 1 }]);
    refusedAs(client, "version");
    // A later version may look otherwise, apart from these two fields.
    const later = relay.connect();
    await later.ask({ type: "hello", protocol: 7, who: "ann" } as never);
    expect(later.frames).toMatchObject([
      { code: "version", protocol: 1, message: expect.stringMatching(/1.*7/) },
    ]);
    refusedAs(later, "version");
  });

  test("[C46] unauthenticated connections leave nothing behind", async () => {
    const relay = await testRelay();
    const clients = Array.from({ length: 100 }, () => relay.connect());
    await relay.clock.advance(10_000);
    for (const client of clients) expect(client.closed?.code).toBe(4401);
    expect(relay.core.size.connections).toBe(0);
    expect(relay.clock.waiting).toBe(0);
  });
});

describe("tokens", () => {
  test("[P4] the actor is the token's, and a hello for another is forbidden", async () => {
    const relay = await testRelay({ authenticate });
    const client = relay.connect();
    await client.hello("ann", "bob");
    refusedAs(client, "forbidden");
    const honest = relay.connect();
    await honest.hello("bob", "bob");
    expect(honest.frames).toMatchObject([{ type: "welcome", actorId: "bob" }]);
  });

  test("[P4] a relay without authentication believes the hello", async () => {
    const relay = await testRelay();
    expect((await relay.client("anyone")).of("welcome")).toMatchObject([{ actorId: "anyone" }]);
  });

  test.each([
    [undefined, "unauthenticated"],
    ["old", "unauthenticated"],
    ["bug", "try-again"],
    ["barred", "forbidden"],
    ["later", "try-again"],
    [" ", "unauthenticated"],
    ["ann until 5", "unauthenticated"],
  ] as const)("[C28] the token %j is refused as %s, each with its own close code", async (token, code) => {
    const relay = await testRelay({ authenticate });
    const client = relay.connect();
    await client.hello("ann", token);
    refusedAs(client, code);
  });

  test("[P5] no error text of an authenticator reaches the client", async () => {
    const relay = await testRelay({
      authenticate: async () => {
        throw new Error("password of the database is hunter2");
      },
    });
    const client = relay.connect();
    await client.hello("ann", "t");
    expect(JSON.stringify(client.frames)).not.toContain("hunter2");
    refusedAs(client, "try-again");
  });

  test("[P5] a connection ends with its token, and goes on with a fresh one", async () => {
    const relay = await testRelay({ authenticate });
    const startMs = relay.clock.now();
    const client = relay.connect();
    await client.hello("ann", `ann until ${startMs + 60_000}`);
    expect(client.of("welcome")[0]?.expiresAt).toBe(new Date(startMs + 60_000).toISOString());
    await relay.clock.advance(50_000);
    const token = `ann until ${startMs + 120_000}`;
    const again = await client.expect("welcome", { type: "reauthenticate", token });
    expect(again.expiresAt).toBe(new Date(startMs + 120_000).toISOString());
    await relay.clock.advance(60_000);
    expect(client.closed).toBeUndefined();
    await relay.clock.advance(10_000);
    refusedAs(client, "unauthenticated");
  });

  test("[P5] a token may outlast any timer", async () => {
    const relay = await testRelay({ authenticate });
    const days = 86_400_000;
    const client = relay.connect();
    await client.hello("ann", `ann until ${relay.clock.now() + 40 * days}`);
    await relay.clock.advance(39 * days);
    expect(client.closed).toBeUndefined();
    await relay.clock.advance(days);
    refusedAs(client, "unauthenticated");
  });

  test("[P5] a fresh token of another actor ends the connection", async () => {
    const relay = await testRelay({ authenticate });
    const client = relay.connect();
    await client.hello("ann", "ann");
    await client.ask({ type: "reauthenticate", token: "bob" });
    refusedAs(client, "forbidden");
  });

  test("[C36] ops that were under way when the token was changed are all answered", async () => {
    const relay = await testRelay({ authenticate });
    const client = relay.connect();
    await client.hello("ann", "ann");
    let base = { generation: 0, count: 0, lastId: null as string | null };
    for (let n = 0; n < 100; n += 1) {
      client.say(append("s", [`m${n}`], { base }));
      base = { generation: 0, count: n + 1, lastId: `m${n}` };
      if (n === 50) client.say({ type: "reauthenticate", token: "ann" });
    }
    await relay.settle();
    expect(client.of("ack").map(({ head }) => head.count)).toEqual(
      Array.from({ length: 100 }, (_, n) => n + 1),
    );
  });
});

describe("origins", () => {
  const withOrigins = (origins?: readonly string[], secured = true) =>
    testRelay({ ...(secured ? { authenticate } : {}), ...(origins === undefined ? {} : { origins }) });

  test.each([
    ["closed once there is authentication", undefined, true, "https://app.example", false],
    ["let in without an origin: no browser", undefined, true, undefined, true],
    ["those that are given", ["https://app.example"], true, "https://app.example", true],
    ["in any case of letters", ["https://App.example"], true, "https://app.EXAMPLE", true],
    ["no others", ["https://app.example"], true, "https://app.example.evil", false],
    ["not by prefix of a port", ["https://app.example"], true, "https://app.example:8443", false],
    ["null is an origin like others", ["https://app.example"], true, "null", false],
    ["all when so said", ["*"], true, "https://any.example", true],
    ["open in development", undefined, false, "http://localhost:5173", true],
    ["unless origins are given there", ["http://localhost:5173"], false, "https://evil.example", false],
  ] as const)("[H8] origins: %s", async (_, origins, secured, origin, letIn) => {
    const relay = await withOrigins(origins, secured);
    const client = relay.connect(origin === undefined ? {} : { origin });
    await client.hello("ann", "ann");
    if (letIn) expect(client.frames).toMatchObject([{ type: "welcome" }]);
    else refusedAs(client, "forbidden");
  });
});
