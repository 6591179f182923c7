import { describe, expect, test } from "bun:test";
import { tempWorkspace } from "./support/temp_workspace.ts";
import { type Answer, type FakeApi, fakeApi, reply } from "./support/fake_api.ts";
import { runTenon, type Start, startTenon, type Way, WAYS } from "./support/program.ts";

const KEY = "sk-test-0123456789";

/** A start that talks to the fake. */
function towards(api: FakeApi, start: Start): Start {
  return {
    ...start,
    args: ["--base-url", api.url, "-m", "fake-model", ...(start.args ?? [])],
    env: { ANTHROPIC_API_KEY: KEY, ...start.env },
    deno: { net: [new URL(api.url).host], ...start.deno },
  };
}

const THREE_ROUNDS: Answer[] = [
  reply({ text: "I look first.", calls: [{ name: "list_files", input: {} }] }),
  reply({
    calls: [
      { name: "read_file", input: { path: "notes.txt" } },
      { name: "no_such_tool", input: {} },
    ],
  }),
  reply({ text: "It says milk.\nThat is all." }),
];

const KNOWN = "get_time, list_files, read_file";

describe.each([...WAYS])("tenon as %s", (way: Way) => {
  test("lists, reads, is told of a tool that is not there, and answers on stdout alone", async () => {
    await using temp = await tempWorkspace({ "notes.txt": "milk\n" });
    await using api = await fakeApi(THREE_ROUNDS);
    const { code, stdout, stderr } = await runTenon(way, towards(api, { cwd: temp.root, args: ["What is to buy?"] }));
    const noted = stderr.split("\n");
    expect(noted.slice(0, 5)).toEqual([
      "I look first.",
      "⏺ list_files {}",
      "  notes.txt",
      '⏺ read_file {"path":"notes.txt"}',
      "⏺ no_such_tool {}",
    ]);
    // The two of one reply run at the same time; either may be done first.
    expect(noted.slice(5).join("\n")).toContain(`No tool is named "no_such_tool". Use one of: ${KNOWN}`);
    expect(noted.slice(5).join("\n")).toContain(String.raw`1\tmilk`);
    expect(stdout).toBe("It says milk.\nThat is all.\n");
    expect(code).toBe(0);
    const results = api.requests[2]?.body.messages.at(-1).content;
    expect(results.map((block: { content: string }) => block.content)).toEqual([
      "     1\tmilk",
      `No tool is named "no_such_tool". Use one of: ${KNOWN}`,
    ]);
    expect(api.requests[0]?.headers["authorization"]).toBe(`Bearer ${KEY}`);
  });
});
