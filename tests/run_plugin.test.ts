import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { messageOf, previewPlugin, runPlugin } from "../core/hosts/run_plugin.ts";
import { importPlugin } from "../core/plugins/plugins.ts";
import { tempWorkspace } from "./support/temp_workspace.ts";

const FIXTURES = join(import.meta.dir, "fixtures", "plugins");

async function run(name: string, input: unknown = {}) {
  await using folder = await tempWorkspace();
  return await runPlugin(await importPlugin(join(FIXTURES, `${name}.ts`)), input, folder.context);
}

describe("runPlugin gives what a tool", () => {
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "eA==" } };
  const cases: [name: string, content: unknown][] = [
    ["returns_a_string", "done"],
    ["returns_undefined", "(no output)"],
    ["returns_blanks", "(no output)"],
    ["returns_null", "null"],
    ["returns_an_object", '{"a":[1,{"b":2}]}'],
    ["returns_an_empty_list", "[]"],
    ["returns_a_map", '{"map":[[1,2]],"set":["a"]}'],
    ["returns_a_date", '{"date":"1970-01-01T00:00:00.000Z","url":"https://a.example/","boxed":"s","none":{}}'],
    ["returns_an_error", '{"failed":["no ink"]}'],
    ["returns_a_symbol", "(no output)"],
    ["returns_blocks", [{ type: "text", text: "one" }, image]],
    ["returns_blank_blocks", "(no output)"],
    ["returns_odd_blocks", '[{"type":"text","text":5},{"type":"video"},null]'],
  ];
  for (const [name, content] of cases) {
    test(name, async () => expect(await run(name)).toEqual({ content, is_error: false } as never));
  }
});

describe("runPlugin says why a tool fails that", () => {
  const cases: [name: string, content: string][] = [
    ["returns_a_circle", "Cannot send what returns_a_circle returned as JSON: it is circular (it holds itself)"],
    ["returns_a_bigint", "Cannot send what returns_a_bigint returned as JSON: it holds a BigInt"],
    ["returns_what_throws", "Cannot send what returns_what_throws returned as JSON: tj"],
    ["throws_an_error", "Cannot do it: no ink. Buy some"],
    ["rejects", "Cannot do it: too far"],
    ["throws_a_type_error", "Cannot run throws_a_type_error: x is not a function"],
    ["throws_no_words", "Cannot run throws_no_words: The tool failed with a TypeError that has no message"],
    ["throws_a_string", "plain string"],
    ["throws_undefined", "The tool threw undefined"],
    ["throws_an_object", 'The tool threw {"code":42,"detail":"why"}'],
    ["throws_a_circle", "The tool threw a value that cannot be shown"],
    ["throws_an_unreadable_error", "The tool threw a value that cannot be shown"],
    ["throws_an_unreadable_range_error", "The tool threw a value that cannot be shown"],
    ["throws_a_proxy_that_throws", "The tool threw a value that cannot be shown"],
  ];
  for (const [name, content] of cases) {
    test(name, async () => expect(await run(name)).toEqual({ content, is_error: true }));
  }
});

describe("runPlugin checks the input before the handler runs, and", () => {
  const cases: [what: string, name: string, input: unknown, content: string][] = [
    [
      "names an unknown key",
      "throws_an_error",
      { x: 1 },
      "Cannot call throws_an_error: x: unknown parameter; there are none",
    ],
    ["names what is no JSON", "throws_an_error", "{", "Cannot call throws_an_error: its input is not valid JSON: {"],
    ["names a field", "uses_valibot", { n: 0 }, "Cannot call uses_valibot: n: expected at least 1, got number 0"],
    ["fills in what is left out", "uses_valibot", null, "4"],
    ["mends a number", "uses_valibot", { n: "5" }, "6"],
  ];
  for (const [what, name, input, content] of cases) {
    test(what, async () => expect((await run(name, input)).content).toBe(content));
  }
});

describe("previewPlugin", () => {
  const preview = async (it: unknown) => {
    const plugin = await importPlugin(join(FIXTURES, "proposes_nothing_known.ts"));
    await using folder = await tempWorkspace();
    return await previewPlugin(plugin, { it }, folder.context);
  };

  test.each([["a text"], [1], [[]], [{}], [{ path: "a" }], [{ path: "a", diff: 1 }], [{ command: ["ls"] }]])(
    "refuses %p as what is to be shown",
    async (it) => {
      expect(await preview(it)).toEqual({
        content: "Cannot run proposes_nothing_known: its preview returned neither { path, diff } nor { command }",
        is_error: true,
      });
    },
  );

  test.each([[{ path: "a", diff: "+b" }], [{ command: "ls" }]])("hands on %p", async (it) => {
    expect(await preview(it)).toEqual({ content: "(no output)", is_error: false, proposal: it });
  });
});

describe("messageOf puts into words", () => {
  const cases: [what: string, thrown: unknown, words: string][] = [
    ["an error", new Error("why"), "why"],
    ["an aborted signal", AbortSignal.abort().reason, AbortSignal.abort().reason.message],
    ["null", null, "The tool threw null"],
    ["a number", 5, "The tool threw 5"],
    ["an empty string", "", 'The tool threw ""'],
    ["a symbol", Symbol("s"), "The tool threw Symbol(s)"],
    ["a BigInt", 5n, "The tool threw a value that cannot be shown"],
    ["an object without anything", Object.create(null), "The tool threw {}"],
    [
      "an error whose message is no text",
      Object.assign(new Error(), { message: 5 }),
      "The tool threw a value that cannot be shown",
    ],
  ];
  for (const [what, thrown, words] of cases) test(what, () => expect(messageOf(thrown)).toBe(words));
});
