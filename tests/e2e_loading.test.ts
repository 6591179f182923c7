import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runTenon, SOURCES, type Way, WAYS, writeFiles } from "./support/program.ts";
import { type TempWorkspace, tempWorkspace } from "./support/temp_workspace.ts";

setDefaultTimeout(60_000); // a run has its own limit

function plugin(name: string, before = "", permissions = "{ read: true }", body = `"${name}"`): string {
  return `${before}
export const definition = { name: "${name}", description: "Says it.", input_schema: { type: "object" },
  permissions: ${permissions} };
export const handler = async (_input, context) => ${body};
`;
}

/** By the name of the file: "good", or why it was set aside. */
async function verdicts(
  way: Way,
  temp: TempWorkspace,
  more: Record<string, string> = {},
): Promise<Record<string, string>> {
  const { top, root: cwd } = temp;
  const run = await runTenon(way, {
    cwd,
    args: ["tools", "--json", "--plugins", join(top, "p")],
    env: { HOME: join(top, "home"), ...more },
    deno: { read: [".", SOURCES, join(top, "p")] },
  });
  expect([run.code, run.stderr]).toEqual([0, ""]);
  const { tools, set_aside } = JSON.parse(run.stdout) as {
    tools: { source: string }[];
    set_aside: { file: string; problem: string }[];
  };
  const short = (file: string) => file.slice(join(top, "p").length + 1);
  const good = tools.filter(({ source }) => source !== "built in").map(({ source }) => [short(source), "good"]);
  return Object.fromEntries([...good, ...set_aside.map(({ file, problem }) => [short(file), problem])]);
}

/** Bun leaves out what is not used, and guesses endings; Deno does neither. */
const imports: [what: string, source: string, verdict: string][] = [
  ["package", 'import { z } from "zod"; z();', "package"],
  ["package_unused", 'import { z } from "zod";', "package"],
  ["package_default", 'import z from "zod";', "package"],
  ["package_all", 'import * as z from "zod";', "package"],
  ["package_effect", 'import "zod";', "package"],
  ["package_part", 'import { z } from "zod/v4";', "zod/v4"],
  ["package_exported", 'export * from "zod";', "package"],
  ["package_for_a_type", 'import { Z } from "zod"; let z: Z | undefined;', "package"],
  ["package_mixed", 'import { type Z, y } from "zod";', "package"],
  ["package_at_a_call", 'export const load = () => import("zod");', "good"],
  ["package_named_in_words", '// import { z } from "zod"\nexport const s = `\nimport "zod"\n`;', "good"],
  ["types", 'import type { Z } from "zod"; export type { Y } from "zod";', "good"],
  [
    "types_in_braces",
    'import { type Z } from "zod";',
    'imports "zod", which is not there: types alone are imported without it by import type { … } from "zod"',
  ],
  ["lent", 'import { string } from "valibot"; import { type Handler } from "tenon";', "good"],
  [
    "lent_part",
    'import { x } from "valibot/x"; x;',
    'imports "valibot/x", but the program has "valibot" itself alone. Import that',
  ],
  [
    "tenon_part",
    'import { Tool } from "tenon/core/tool.ts";',
    'imports "tenon/core/tool.ts", but the program has "tenon" itself alone. Import that',
  ],
  ["no_package", 'import "zod; id | sh";', 'imports "zod; id | sh", which is not there. Is its name right?'],
  ["an_option", 'import "--global";', 'imports "--global", which is not there. Is its name right?'],
  ["node", 'import fs from "node:fs"; import path from "path"; import { test } from "node:test";', "good"],
  [
    "node_unknown",
    'import { x } from "node:nope";',
    'imports "node:nope", which is no module of Node that both Bun and Deno have. Use another',
  ],
  ["file", 'import { x } from "./lib/x.ts"; x;', "good"],
  [
    "file_unused",
    'import { x } from "./lib/none.ts";',
    'imports "./lib/none.ts", which is not there. Is its name right?',
  ],
  [
    "file_short",
    'import { x } from "./lib/x"; x;',
    'imports "./lib/x", which is not there. Did you mean "./lib/x.ts"?',
  ],
  [
    "file_as_js",
    'import { x } from "./lib/x.js"; x;',
    'imports "./lib/x.js", which is not there. Did you mean "./lib/x.ts"?',
  ],
  ["folder", 'import { x } from "./lib"; x;', 'imports "./lib", which is not there. Did you mean "./lib/mod.ts"?'],
  [
    "file_above",
    'import { x } from "../out.ts"; x;',
    'imports "../out.ts", which lies outside the plugin\'s folder. Put it beside or below the plugin',
  ],
  ["json", 'import d from "./lib/d.json" with { type: "json" }; d;', "good"],
  [
    "json_bare",
    'import d from "./lib/d.json"; d;',
    'imports "./lib/d.json" without saying what it is. Write: from "./lib/d.json" with { type: "json" }',
  ],
  ["json_as_text", 'import d from "./lib/d.json" with { type: "text" }; d;', "good"],
  ["data_as_text", 'import d from "./lib/d.yaml" with { type: "text" }; d;', "good"],
  [
    "data",
    'import d from "./lib/d.yaml"; d;',
    'imports "./lib/d.yaml", which is no code. As text: from "./lib/d.yaml" with { type: "text" }',
  ],
  ["part", 'import { x } from "parts/x"; x;', "good"],
  ["part_closed", 'import { x } from "parts/y"; x;', 'imports "parts/y", which its package does not have'],
  ["part_missing", 'import x from "whole/none.js"; x;', 'imports "whole/none.js", which its package does not have'],
  [
    "below",
    'import "./lib/needs.ts";',
    'lib/needs.ts line 2: imports "./gone.ts", which is not there. Is its name right?',
  ],
  ["web", 'import { x } from "https://example.com/x.ts";', "web"],
];

test("what a plugin imports is looked at in the same way on every runtime, before anything runs", async () => {
  await using temp = await tempWorkspace();
  const folder = join(temp.top, "p");
  const words: Record<string, string> = {
    package:
      `imports "zod", which is not there: run npm install --prefix ${folder} zod. Only valibot and tenon come with ` +
      "the program",
    web:
      'imports "https://example.com/x.ts": nothing is loaded from the network. Save the file beside the plugin, and ' +
      'import "./FILE"',
  };
  words["zod/v4"] = (words["package"] ?? "").replace('"zod"', '"zod/v4"');
  await writeFiles(temp.top, {
    "out.ts": "export const x = 1;",
    "p/lib/x.ts": "export const x = 1;",
    "p/lib/mod.ts": "export const x = 1;",
    "p/lib/d.json": "{}",
    "p/lib/d.yaml": "a: 1",
    "p/node_modules/parts/package.json": '{ "name": "parts", "type": "module", "exports": { "./x": "./x.js" } }',
    "p/node_modules/parts/x.js": "export const x = 1;",
    "p/node_modules/whole/package.json": '{ "name": "whole" }',
    "p/lib/needs.ts": '\nimport { a } from "./gone.ts";',
    ...Object.fromEntries(imports.map(([name, source]) => [`p/${name}.ts`, plugin(name, source)])),
  });
  const expected = Object.fromEntries(imports.map(([name, , verdict]) => {
    const full = words[verdict] ?? verdict;
    return [`${name}.ts`, full === "good" || full.startsWith("lib/") ? full : `line 1: ${full}`];
  }));
  for (const way of WAYS) expect([way, await verdicts(way, temp)]).toEqual([way, expected]);
});

/** Five lines that are gone when it runs. */
const TYPES = "interface A {\n  a: string;\n}\ntype B = A;\n\n";
const lines: [name: string, source: string, place: string][] = [
  ["brace", `${TYPES}const a = 1;\nconst b = { c d };`, "line 7: "],
  ["twice", `${TYPES}const a: number = 1;\n\nconst a: string = 2;`, "line 8: "],
  ["await_inside", `${TYPES}function f() { await 1; }`, "line 6: "],
  ["return_on_top", `${TYPES}return 1;`, "line 6: "],
  ["text_without_end", `${TYPES}const a = "b`, "line 6: "],
  ["curly_quotes", `${TYPES}const a = “b”;`, "line 6: "],
  ["reserved", `${TYPES}const class = 1;`, "line 6: "],
  ["breaks", `${TYPES}break;`, "line 6: "],
  ["in_another", `${TYPES}import "./lib/bad.ts";`, "lib/bad.ts line 2: "],
  [
    "no_such_export",
    `${TYPES}import { nope } from "./lib/x.ts"; nope;`,
    'line 6: imports nope, which "x.ts" does not export',
  ],
  ["no_default", `${TYPES}import x from "./lib/x.ts"; x;`, 'line 6: imports default, which "x.ts" does not export'],
  [
    "no_default_lent",
    `${TYPES}import v from "valibot"; v;`,
    'line 6: imports default, which "valibot" does not export',
  ],
  ["bad_expression", `${TYPES}const good = /a[/]b/g;\nconst bad = /(/;`, "line 7: "],
  ["throws", `${TYPES}throw new Error("boom");`, "line 6: throws while it is imported: boom"],
  [
    "throws_inside",
    `${TYPES}function f(): B {\n\n  throw new Error("deep");\n}\nf();`,
    "line 8: throws while it is imported: deep",
  ],
  ["throws_elsewhere", 'import "./lib/throws.ts";', "lib/throws.ts line 3: throws while it is imported: from afar"],
  ["not_defined", `${TYPES}nope();`, "line 6: throws while it is imported: nope is not defined"],
  ["rejects", `${TYPES}await Promise.reject(new Error("no"));`, "line 6: throws while it is imported: no"],
];

test("the line of what is wrong is told on every runtime, without a path of this machine or a stack", async () => {
  await using temp = await tempWorkspace();
  await writeFiles(temp.top, {
    "p/lib/x.ts": "export const x = 1;",
    "p/lib/bad.ts": "\nconst a = {;",
    "p/lib/throws.ts": '\n\nthrow new Error("from afar");',
    ...Object.fromEntries(lines.map(([name, source]) => [`p/${name}.ts`, plugin(name, `${source}\n`)])),
  });
  for (const way of WAYS) {
    const told = await verdicts(way, temp);
    for (const [name, , place] of lines) {
      const words = told[`${name}.ts`] ?? "";
      expect([way, name, words.startsWith(place) ? place : words]).toEqual([way, name, place]);
      expect(words.slice(place.length)).not.toMatch(/\n|file:|\/p\/|SyntaxError|\bat \S+:\d/);
    }
  }
});

const LINK = "is a link to a file outside its folder. Copy the file here, or name its folder with --plugins";
const TWIN = (other: string) =>
  `is called like ${other} but for upper and lower case, which not every system tells apart`;
const COMMON =
  "exports nothing. Write export const definition = { name, description, input_schema }, and no module.exports";
const NAME = "its name is the tool's, and needs 1 to 64 of the characters a–z A–Z 0–9 _ -";
const UTF8 = "is not UTF-8 text. Save it as UTF-8";
const odd: [file: string, make: string, verdict: string][] = [
  ["good.ts", "", "good"],
  ["bom.ts", `printf '\\357\\273\\277' > bom.ts; PLUGIN bom >> bom.ts`, "good"],
  ["crlf.ts", `PLUGIN crlf | sed 's/$/\\r/' > crlf.ts`, "good"],
  ["same.ts", "mkdir -p sub; PLUGIN same > sub/same.ts; ln -s sub/same.ts same.ts", "good"],
  [
    "other_name.ts",
    "PLUGIN other_name > sub/real.ts; ln -s sub/real.ts other_name.ts",
    'definition.name: is "other_name", but the file is called "real"',
  ],
  ["out.ts", "PLUGIN out > ../out.ts; ln -s ../out.ts out.ts", LINK],
  ["device.ts", "ln -s /dev/zero device.ts", LINK],
  ["dangling.ts", "ln -s nowhere.ts dangling.ts", "is a link whose target is not there"],
  ["loop.ts", "ln -s loop.ts loop.ts", "is a link whose target is not there"],
  ["pipe.ts", "mkfifo pipe.ts", "is not a regular file"],
  [
    "empty.ts",
    ": > empty.ts",
    'has no export "definition". Write export const definition = { name, description, input_schema }',
  ],
  ["huge.ts", "PLUGIN huge > huge.ts; truncate -s 50000000 huge.ts", "is over 2 MB"],
  ["latin1.ts", `PLUGIN latin1 > latin1.ts; printf '// \\351\\n' >> latin1.ts`, UTF8],
  ["utf16.ts", `printf '\\377\\376e\\000' > utf16.ts`, UTF8],
  ["with space.ts", `PLUGIN 'with space' > 'with space.ts'`, NAME],
  ["q?.ts", "PLUGIN q > 'q?.ts'", NAME],
  ["Twin.ts", "PLUGIN Twin > Twin.ts", TWIN("twin.ts")],
  ["twin.ts", "PLUGIN twin > twin.ts", TWIN("Twin.ts")],
  ["common.js", `echo 'exports.definition = { name: "common" };' > common.js`, COMMON],
  ["assigns.ts", "echo 'export = { definition: {} };' > assigns.ts", COMMON],
  ["wörter.ts", "PLUGIN wörter > wörter.ts", NAME],
  ["🦊.ts", "PLUGIN 🦊 > 🦊.ts", NAME],
  ["p%41#1.ts", "PLUGIN 'p%41#1' > 'p%41#1.ts'", NAME],
];

const LOCKED: (typeof odd)[number] = ["locked.ts", "PLUGIN locked > locked.ts; chmod 000 locked.ts", "cannot be read"];

/** The sources under Bun load plugins as the executable does. */
describe.each(["executable", "deno"] as const)("tenon as %s", (way) => {
  test("takes a folder of odd files for what they are, and none holds up the others", async () => {
    await using temp = await tempWorkspace();
    await writeFiles(temp.top, { "p/good.ts": plugin("good") });
    // Behind the kernel's fence root is an ordinary user.
    const rows = [...odd, ...(way === "executable" || process.getuid?.() !== 0 ? [LOCKED] : [])];
    const make = rows.map(([, make]) => make).join("\n");
    await temp.sh(`PLUGIN() { sed "s/\\"good\\"/\\"$1\\"/g" good.ts; }\ncd ../p; mkdir dir.ts\n${make}`);
    const start = performance.now();
    expect(await verdicts(way, temp)).toEqual(Object.fromEntries(rows.map(([file, , verdict]) => [file, verdict])));
    expect(performance.now() - start).toBeLessThan(15_000);
  });

  test("loads many files while some of them change and go away", async () => {
    await using temp = await tempWorkspace();
    const names = Array.from({ length: 60 }, (_, n) => `t${n}`);
    await writeFiles(temp.top, Object.fromEntries(names.map((name) => [`p/${name}.ts`, plugin(name)])));
    let isDone = false;
    const loading = verdicts(way, temp).finally(() => isDone = true);
    for (let n = 0; !isDone; n = (n + 1) % 20) {
      const file = join(temp.top, "p", `t${n}.ts`);
      if (n % 4 === 0) await rm(file, { force: true });
      else await writeFile(file, n % 4 === 1 ? "export const definition = {" : plugin(`t${n}`, `// ${n}`));
      await Bun.sleep(2);
    }
    const told = await loading;
    expect(names.slice(20).filter((name) => told[`${name}.ts`] !== "good")).toEqual([]);
    const words = names.slice(0, 20).map((name) => told[`${name}.ts`] ?? "good");
    const known = /^(?:good|line 1: |is not there$|its file is gone|has no export)/;
    expect(words.filter((problem) => !known.test(problem))).toEqual([]);
  });

  test("gives a plugin what it declares and no more, in each combination", async () => {
    await using temp = await tempWorkspace({ "a.txt": "one" });
    const kinds = ["read", "write", "run"];
    const sets = [0, 1, 2, 3, 4, 5, 6, 7].map((bits) => kinds.filter((_, at) => bits & (1 << at)));
    const body = `{
  const told = [];
  const tried = async (name, act) => { try { await act(); told.push(name); } catch { /* not granted */ } };
  const { workspace } = context;
  await tried("read", () => workspace.readText("a.txt"));
  await tried("list", () => workspace.list("."));
  await tried("write", () => workspace.writeText("b.txt", "two"));
  await tried("outside", () => workspace.writeText("../out.txt", "two"));
  await tried("run", async () => {
    const { spawnSync } = await import("node:child_process");
    const { error, stdout } = spawnSync("sh", ["-c", "echo ran"], context.run ?? {});
    if (error || String(stdout) !== "ran\\n") throw error;
  });
  return told.join(" ") || "nothing";
}`;
    const named = sets.map((set) => ({ set, name: ["can", ...set].join("_") }));
    for (const { set, name } of named) {
      const permissions = `{ ${set.map((kind) => `${kind}: true`).join(", ")} }`;
      const text = plugin(name, "", permissions, "{}").replace("=> {}", () => `=> ${body}`);
      await writeFiles(temp.top, { [`p/${name}.ts`]: text });
    }
    const { stdout } = await runTenon(way, {
      cwd: temp.root,
      args: ["call", "--plugins", join(temp.top, "p"), "--allow-write", "--allow-run"],
      env: { HOME: join(temp.top, "home") },
      stdin: named.map(({ name }) => `${JSON.stringify({ name, input: {} })}\n`).join(""),
      deno: { read: [".", SOURCES, join(temp.top, "p")], write: ["."], run: ["sh"] },
    });
    const results = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
    expect(results).toEqual(named.map(({ set, name }) => ({
      name,
      content: set.flatMap((kind) => kind === "read" ? ["read", "list"] : [kind]).join(" ") || "nothing",
      is_error: false,
    })));
  });
});

test("a plugin that never loads holds up one start, and is tried again by tenon check", async () => {
  await using temp = await tempWorkspace();
  const waits = `import fs from "node:fs";
if (fs.existsSync(new URL("wait", import.meta.url))) await new Promise(() => {});`;
  await writeFiles(temp.top, { "p/a.ts": plugin("a", waits), "p/wait": "" });
  const file = join(temp.top, "p", "a.ts");
  const problem =
    "did not finish loading within 5 s (a top-level await, or a loop?). It is not tried again until the file " +
    `changes, or tenon check ${file} finds it well`;
  expect(await verdicts("executable", temp)).toEqual({ "a.ts": problem });
  const start = performance.now();
  expect(await verdicts("executable", temp)).toEqual({ "a.ts": problem });
  expect(performance.now() - start).toBeLessThan(4000);
  await rm(join(temp.top, "p", "wait"));
  expect(await verdicts("executable", temp)).toEqual({ "a.ts": problem });
  const check = await runTenon("executable", {
    cwd: temp.root,
    args: ["check", file],
    env: { HOME: join(temp.top, "home") },
  });
  expect([check.code, check.stdout]).toEqual([0, expect.stringContaining("a.ts: good\n")]);
  expect(await verdicts("executable", temp)).toEqual({ "a.ts": "good" });
});
