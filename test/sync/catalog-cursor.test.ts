import { describe, expect, test } from "vitest";
import { CatalogCursor } from "../../src/sync/catalog-cursor.ts";

describe("the catalog's cursor", () => {
  test("[P44] it never passes a change that was not taken, and takes those behind the gap with it once it is closed", () => {
    const cursor = new CatalogCursor();
    cursor.begin(4);
    cursor.took(5);
    expect(cursor.position).toBe(5);
    cursor.took(7);
    cursor.took(8);
    expect([cursor.position, cursor.misses]).toEqual([5, true]);
    cursor.read(6);
    expect([cursor.position, cursor.misses]).toEqual([8, false]);
  });

  test("[P32, P44] what was only heard of stays missed until an answer covers it", () => {
    const cursor = new CatalogCursor();
    cursor.begin(0);
    cursor.heard(3);
    cursor.took(4);
    cursor.asked();
    cursor.read(2);
    expect([cursor.position, cursor.misses, cursor.ledFurther]).toEqual([2, true, true]);
    cursor.asked();
    cursor.read(2);
    expect(cursor.ledFurther).toBe(false);
    cursor.read(3);
    expect([cursor.position, cursor.misses]).toEqual([4, false]);
  });

  test("[P44] what a failed transaction had taken is missed again, that behind a gap too", () => {
    const cursor = new CatalogCursor();
    cursor.begin(0);
    cursor.took(1);
    cursor.took(3);
    cursor.back(0);
    cursor.read(2);
    expect([cursor.position, cursor.misses]).toEqual([2, true]);
  });
});
