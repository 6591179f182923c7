import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { systemPrompt } from "../core/model/prompt.ts";

describe("systemPrompt", () => {
  test("keeps its bytes; a change of the prompt changes this hash on purpose", () => {
    expect(createHash("sha256").update(systemPrompt()).digest("hex")).toBe(
      "ea429067378c3fe9b43a39aec5ddc90f547497be9e53dbfc218a42a93058a55e",
    );
  });

  test("has no word of the machine, the folder or the day", () => {
    const facts = [
      process.cwd(),
      process.platform,
      process.arch,
      String(new Date().getFullYear()),
      process.env["HOME"],
    ];
    for (const fact of facts) expect(systemPrompt()).not.toContain(String(fact));
  });

  test("is short: at most 18 rules, each on one line that fits a screen", () => {
    const lines = systemPrompt().trimEnd().split("\n");
    expect(lines.filter((line) => line.startsWith("- ")).length).toBeLessThanOrEqual(18);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(130);
  });

  test.each([["look first"], ["read what you edit"], ["run the tests"], ["Follow the user's word"]])(
    "says: %s",
    (words) => {
      expect(systemPrompt()).toContain(words);
    },
  );

  test.each([["list_files"], ["read_file"]])("names %s", (tool) => {
    expect(systemPrompt()).toContain(tool);
  });

  test("names no tool that writes or runs, since those can be missing", () => {
    expect(systemPrompt()).not.toMatch(/write_file|edit_file|bash|glob|search_code/);
  });

  test("appends the user's text under a heading and leaves the prompt before it as it is", () => {
    const prompt = systemPrompt("Answer in rhymes.\n$& $1\n");
    expect(prompt.startsWith(systemPrompt())).toBe(true);
    expect(prompt.slice(systemPrompt().length)).toBe("\n# From the user\n\nAnswer in rhymes.\n$& $1\n");
  });

  test.each([[""], [" \n\t\n"]])("has no heading when the user's text is %j", (extra) => {
    expect(systemPrompt(extra)).toBe(systemPrompt());
  });
});
