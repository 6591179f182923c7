import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HISTORY_LIMIT, openLineHistory } from "../core/terminal/line_history.ts";

const folder = mkdtempSync(join(tmpdir(), "tenon-history-"));
afterAll(() => rmSync(folder, { recursive: true }));

const rows = (file: string) => readFileSync(file, "utf8").trimEnd().split("\n");

describe("openLineHistory", () => {
  test("keeps lines, several rows and all, but no blank one, no repetition, and none that begins with a space", () => {
    const file = join(folder, "new", "folder", "history");
    const history = openLineHistory(file);
    for (const line of ["one", "one", "", "  ", " secret", "two\nrows", "one"]) history.add(line);
    expect(history.lines).toEqual(["one", "two\nrows", "one"]);
    expect(openLineHistory(file).lines).toEqual(["one", "two\nrows", "one"]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, "new", "folder")).mode & 0o777).toBe(0o700);
  });

  test("takes back a file's wider mode", () => {
    const file = join(folder, "wide");
    writeFileSync(file, '"a"\n');
    chmodSync(file, 0o644);
    openLineHistory(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("shortens a file that has grown to twice the limit, and keeps the newest lines", () => {
    const file = join(folder, "long");
    const count = 2 * HISTORY_LIMIT + 1;
    writeFileSync(file, Array.from({ length: count }, (_, k) => `"line ${k}"\n`).join(""));
    expect(openLineHistory(file).lines).toHaveLength(HISTORY_LIMIT);
    expect(rows(file)).toHaveLength(HISTORY_LIMIT);
    expect(rows(file).at(-1)).toBe(`"line ${count - 1}"`);
  });

  test("keeps a very long line for this chat only", () => {
    const file = join(folder, "pasted");
    const history = openLineHistory(file);
    history.add("x".repeat(10_001));
    history.add("short");
    expect(history.lines).toHaveLength(2);
    expect(rows(file)).toEqual(['"short"']);
  });

  test("lives without a file it can use", () => {
    const file = join(folder, "taken");
    writeFileSync(file, "");
    for (const path of [undefined, folder, join(file, "below", "history")]) {
      const history = openLineHistory(path);
      history.add("one");
      expect(history.lines).toEqual(["one"]);
    }
  });
});
