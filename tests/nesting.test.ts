import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { cutTooDeep, isTooDeep, NESTING_LIMIT } from "../core/nesting.ts";
import { runTenon, type Way, WAYS } from "./support/program.ts";
import { tempWorkspace } from "./support/temp_workspace.ts";

function nested(depth: number, kind: "lists" | "objects"): unknown {
  const [open, close] = kind === "lists" ? ["[", "]"] : ['{"a":', "}"];
  return JSON.parse(`${open.repeat(depth)}1${close.repeat(depth)}`);
}

describe.each(["lists", "objects"] as const)("%s", (kind) => {
  test("are too deep past the limit", () => {
    expect(isTooDeep(nested(NESTING_LIMIT, kind))).toBe(false);
    expect(isTooDeep(nested(NESTING_LIMIT + 1, kind))).toBe(true);
    expect(isTooDeep(nested(100_000, kind))).toBe(true);
    expect(isTooDeep(["wide", ...Array.from({ length: 10_000 }, () => nested(1, kind))])).toBe(false);
  });

  test("are cut to what can be written, and are still too deep", () => {
    const cut = cutTooDeep({ path: "a", deep: nested(100_000, kind) });
    expect(JSON.stringify(cut).length).toBeLessThan(10 * NESTING_LIMIT);
    expect(cut).toHaveProperty("path", "a");
    expect(isTooDeep(cut)).toBe(true);
  });
});

test("a value that is not too deep stays the same one", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => {
    expect(cutTooDeep(value)).toBe(value);
  }));
});

describe.concurrent.each([...WAYS])("tenon call as %s", (way: Way) => {
  test("says of an input that is nested 100,000 deep that it is too deep", async () => {
    await using temp = await tempWorkspace({ "f.txt": "hello\n" });
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const stdin = `{"name":"read_file","input":{"path":"f.txt","x":${deep}}}\n{"name":"list_files","input":${deep}}\n`;
    const { stdout, code } = await runTenon(way, { cwd: temp.root, args: ["call"], stdin });
    const words = "its input is nested too deep";
    expect(stdout.trimEnd().split("\n").map((line) => JSON.parse(line))).toEqual([
      { name: "read_file", content: `Cannot call read_file: ${words}`, is_error: true },
      { name: "list_files", content: `Cannot call list_files: ${words}`, is_error: true },
    ]);
    expect(code).toBe(1);
  }, 60_000);
});
