import { expect, test } from "bun:test";
import { createThrottle } from "../core/hosts/throttle.ts";

test("createThrottle shows the first line at once, and of a million the last", () => {
  const shown: string[] = [];
  const throttle = createThrottle((text) => shown.push(text));
  throttle.push("0");
  expect(shown).toEqual(["0"]);
  for (let i = 1; i <= 1_000_000; i++) throttle.push(`${i}`);
  throttle.end();
  expect(shown.length).toBeLessThan(200); // one in 50 ms
  expect(shown.at(-1)).toBe("1000000");
});

test("createThrottle shows a held line after a moment, and nothing after its end", async () => {
  const shown: string[] = [];
  const throttle = createThrottle((text) => shown.push(text));
  for (const text of ["a", "b", "c"]) throttle.push(text);
  while (shown.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(shown).toEqual(["a", "c"]);
  throttle.end();
  throttle.push("d");
  expect(shown).toEqual(["a", "c"]);
});

test("createThrottle cuts a line of any length", () => {
  const shown: string[] = [];
  createThrottle((text) => shown.push(text)).push("x".repeat(10_000_000));
  expect(shown[0]?.length).toBe(1000);
});
