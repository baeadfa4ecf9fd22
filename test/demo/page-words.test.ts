import { describe, expect, test } from "vitest";
import { actorIdOf, readAccount, relayUrlOf, saveAccount } from "../../demo/app/account.ts";
import { ageLabel, agoLabel, dayLabel, shortLabel } from "../../demo/app/dates.ts";
import { withoutMarks } from "../../demo/app/message-text.ts";
import { hrefOf, parseRoute } from "../../demo/app/route.ts";
import { noticeOf, type Status, statusWords } from "../../demo/app/sync-words.ts";
import { titleFrom, titleOf } from "../../demo/app/title.ts";

const status: Status = {
  link: "online",
  pending: 0,
  rejected: 0,
  lastSyncedAt: undefined,
  lastError: undefined,
  storage: "persisted",
  leader: true,
};

describe("[H12] what the page says of the connection", () => {
  test("[H12] all is saved only when nothing waits and nothing was refused", () => {
    expect(statusWords(status).text).toBe("All saved");
    expect(statusWords({ ...status, pending: 2 }).text).toBe("Sending 2…");
    expect(statusWords({ ...status, rejected: 1 }).text).toBe("1 not accepted");
    expect(statusWords({ ...status, link: "offline", pending: 2 }).text).toBe("Offline · 2 waiting");
  });

  test("[H12] the banner tells how many wait, and does not blink while the client tries to connect", () => {
    expect(noticeOf({ ...status, link: "offline", pending: 2 }, true)?.text).toContain("2 waiting");
    expect(noticeOf({ ...status, link: "connecting", pending: 2 }, true)?.text).toContain("2 waiting");
    expect(noticeOf({ ...status, link: "connecting" }, false)).toBeUndefined();
    expect(noticeOf(status, false)).toBeUndefined();
  });

  test.each<[Partial<Status>, RegExp]>([
    [{ link: "needs-auth" }, /sign-in has ended/],
    [{ link: "refused" }, /refused/],
    [{ storage: "memory" }, /keeps nothing/],
    [{ storage: "blocked" }, /Another tab/],
    [{ storage: "upgrade-required" }, /Reload/],
  ])("%o has its own words", (change, words) => {
    expect(noticeOf({ ...status, ...change }, false)?.text).toMatch(words);
  });
});

describe("names and addresses", () => {
  test("one name is one actor, however it is typed", () => {
    expect(actorIdOf(" Ada  Lovelace ")).toBe("ada-lovelace");
    expect(actorIdOf("ada lovelace")).toBe("ada-lovelace");
    expect(actorIdOf("  ")).toBe("");
    expect(actorIdOf("e\u0301")).toBe(actorIdOf("\u00e9"));
    expect(actorIdOf("x".repeat(500)).length).toBeLessThanOrEqual(128);
  });

  test.each(["", "http://relay", "relay:8787", "javascript:alert(1)"])("%j is no relay's address", (text) => {
    expect(relayUrlOf(text)).toBeUndefined();
  });

  test("an account is read back, and anything else in its place is none", () => {
    const box = new Map<string, string>();
    const storage = {
      getItem: (key: string) => box.get(key) ?? null,
      setItem: (key: string, value: string) => void box.set(key, value),
      removeItem: (key: string) => void box.delete(key),
    };
    const account = { name: "Ada", actorId: "ada", relayUrl: "ws://relay" };
    expect(readAccount(storage)).toBeUndefined();
    saveAccount(storage, account);
    expect(readAccount(storage)).toEqual(account);
    for (const bad of ["{", "null", "[]", '{"name":1}']) {
      for (const key of box.keys()) box.set(key, bad);
      expect(readAccount(storage)).toBeUndefined();
    }
  });

  test("a route survives its own address, and a broken one leads to the list", () => {
    for (const id of ["chat-1", "a/b c?#%", "日本"]) {
      expect(parseRoute(hrefOf({ kind: "conversation", id }))).toEqual({ kind: "conversation", id });
    }
    expect(parseRoute("#/new")).toEqual({ kind: "new" });
    for (const hash of ["", "#/", "#/c/", "#/c/%E0%A4%A"]) expect(parseRoute(hash)).toEqual({ kind: "list" });
  });
});

describe("titles and previews", () => {
  test("the first line gives the title, without marks and never cut inside a character", () => {
    expect(titleFrom("# Plans\nmore")).toBe("Plans");
    expect(titleFrom("x ".repeat(60)).length).toBeLessThanOrEqual(61);
    expect(titleFrom("😀".repeat(60))).toMatch(/^😀+…$/u);
    expect(titleOf({ title: "  ", preview: "" })).toBe("Untitled");
    expect(titleOf({ preview: "hello" })).toBe("hello");
  });

  test.each([
    ["**596**.", "596."],
    ["a `b` _c_ ~~d~~", "a b c d"],
    ["snake_case and 2 * 3", "snake_case and 2 * 3"],
    ["see [here](https://x.y)", "see here"],
  ])("%j reads %j", (text, plain) => {
    expect(withoutMarks(text)).toBe(plain);
  });
});

describe("times", () => {
  const now = new Date(2026, 4, 13, 15, 0);
  const at = (day: number, hour = 12): string => new Date(2026, 4, day, hour).toISOString();

  test("days have names while they are near", () => {
    expect(dayLabel(at(13), now)).toBe("Today");
    expect(dayLabel(at(12, 23), now)).toBe("Yesterday");
    expect(dayLabel(at(10), now, "en-GB")).toBe("Sunday");
    expect(dayLabel(at(3), now, "en-GB")).toBe("Sunday 3 May");
    expect(dayLabel(new Date(2024, 1, 29).toISOString(), now, "en-GB")).toContain("2024");
  });

  test("a clock that runs ahead is no reason for nonsense", () => {
    expect(ageLabel(at(14), now)).toBe("Today");
    expect(agoLabel(at(14), now)).toBe("just now");
    expect(shortLabel(at(14), now, "en-GB")).toBe("14 May");
  });

  test("the list's headings go back in steps", () => {
    expect([13, 12, 8].map((day) => ageLabel(at(day), now))).toEqual(["Today", "Yesterday", "Last 7 days"]);
    expect(ageLabel(new Date(2026, 3, 20).toISOString(), now)).toBe("Last 30 days");
    expect(ageLabel(new Date(2025, 3, 20).toISOString(), now)).toBe("Older");
  });
});
