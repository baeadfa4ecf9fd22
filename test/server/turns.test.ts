import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Begin, Turns } from "../../server/turns.ts";
import { TestClock } from "../../src/testing/clock.ts";

const TURN_MS = 2_000;

/** A session's head, and devices that write to it as fast as their lines allow. */
class Scene {
  readonly clock = new TestClock();
  readonly turns = new Turns<number>(this.clock, TURN_MS);
  readonly landed: number[] = [];
  head = 0;

  /** An op on the head its device knows; decided after the storage's commit. */
  send(device: number, base: number, answered: (applied: boolean) => void): void {
    const begin: Begin = (ended) => {
      this.clock.after(1, () => {
        const applied = base === this.head;
        if (applied) {
          this.head += 1;
          this.landed.push(device);
        }
        answered(applied);
        ended(applied ? "over" : "comes-again");
      });
    };
    this.turns.take("session", device, begin);
  }

  /** Writes without pause over a line of so many milliseconds each way. */
  writes(device: number, lineMs: number): void {
    const again = (base: number): void => {
      this.clock.after(lineMs, () =>
        this.send(device, base, () => this.clock.after(lineMs, () => again(this.head))),
      );
    };
    again(0);
  }
}

describe("turns", () => {
  test("[P29] whatever their lines, each of the devices that write without pause gets a word in", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 2, maxLength: 6 }),
        async (lines) => {
          const scene = new Scene();
          for (const [device, lineMs] of lines.entries()) scene.writes(device, lineMs);
          await scene.clock.advance(60_000);
          const counts = lines.map((_, device) => scene.landed.filter((one) => one === device).length);
          // Everyone gets in within a few round trips of all of them together.
          const roundMs = lines.reduce((sum, lineMs) => sum + 2 * lineMs + 2, 0);
          expect(Math.min(...counts)).toBeGreaterThanOrEqual(Math.floor(60_000 / (3 * roundMs)));
        },
      ),
      { numRuns: 25 },
    );
  });

  test("[P29] ops of one writer begin in their order, each once, whatever turns there are", async () => {
    const step = fc.oneof(
      fc.record({ is: fc.constant("send" as const), writer: fc.nat(2), lost: fc.boolean(), ms: fc.nat(20) }),
      fc.record({ is: fc.constant("wait" as const), ms: fc.nat(500) }),
      fc.record({ is: fc.constant("leave" as const), writer: fc.nat(2) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (script) => {
        const clock = new TestClock();
        const turns = new Turns<number>(clock, TURN_MS);
        const begun: number[][] = [[], [], []];
        const sent: number[][] = [[], [], []];
        const dropped = new Set<number>();
        for (const [n, todo] of script.entries()) {
          if (todo.is === "wait") await clock.advance(todo.ms);
          else if (todo.is === "leave") {
            for (const one of sent[todo.writer] ?? [])
              if (!begun[todo.writer]?.includes(one)) dropped.add(one);
            turns.left(todo.writer);
          } else {
            const { writer, lost, ms } = todo;
            sent[writer]?.push(n);
            turns.take("session", writer, (ended) => {
              begun[writer]?.push(n);
              clock.after(ms, () => ended(lost ? "comes-again" : "over"));
            });
          }
        }
        // However many are refused and never come again, nobody waits longer than their turns.
        await clock.advance(3 * (TURN_MS + 40) * (script.length + 1));
        for (const writer of [0, 1, 2])
          expect(begun[writer]).toEqual(sent[writer]?.filter((one) => !dropped.has(one)));
        expect(turns.size).toBe(0);
        expect(clock.waiting).toBe(0);
      }),
      { numRuns: 300 },
    );
  });

  test("[P29] nobody waits while nobody was refused", async () => {
    const clock = new TestClock();
    const turns = new Turns<string>(clock, TURN_MS);
    const begun: string[] = [];
    for (const writer of ["a", "b", "a"]) turns.take("session", writer, () => begun.push(writer));
    expect(begun).toEqual(["a", "b", "a"]);
    turns.close();
    expect(turns.size).toBe(0);
  });
});
