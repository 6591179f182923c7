import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runTenon, SOURCES, type Way, WAYS } from "./support/program.ts";
import { tempWorkspace } from "./support/temp_workspace.ts";

setDefaultTimeout(60_000); // a run has its own limit

const NAME = "tries_what_it_does_not_declare";

const rows: [way: string, words: string][] = [
  [
    "write",
    'Cannot write "b.txt": the tool does not declare write. Its definition needs permissions: { read: true, write: true }',
  ],
  [
    "fetch",
    `Cannot run ${NAME}: a plugin has no network of its own. ` +
    'In its code, declare permissions: { net: ["host:port"] }, and use context.fetch',
  ],
  ...["execSync", "spawn"].map((way): [string, string] => [
    way,
    `Cannot run ${NAME}: it starts a program, which it does not declare. Its definition needs permissions: { run: true }`,
  ]),
  [
    "node:fs",
    `Cannot run ${NAME}: it reaches for "secret.txt" by itself: the system does not permit it. ` +
    "Its code should use context.workspace",
  ],
  [
    "node:fs, to write",
    `Cannot run ${NAME}: it reaches for "out.txt" by itself: the system does not permit it. ` +
    "Its code should use context.workspace",
  ],
  ["own", "no ink"],
];

describe.concurrent.each([...WAYS])("a plugin that does not declare what it does, tenon as %s", (way: Way) => {
  test("is told so in the same words on every runtime, with what its author has to write", async () => {
    await using temp = await tempWorkspace({ "a.txt": "one\n" });
    const plugins = join(temp.top, "plugins");
    await mkdir(plugins);
    await writeFile(join(temp.top, "secret.txt"), "secret");
    await copyFile(join(SOURCES, "tests", "fixtures", "plugins", `${NAME}.ts`), join(plugins, `${NAME}.ts`));
    const { stdout } = await runTenon(way, {
      cwd: temp.root,
      args: ["--plugins", plugins, "--allow-write", "call"],
      stdin: rows.map(([way]) => `${JSON.stringify({ name: NAME, input: { way } })}\n`).join(""),
      deno: { read: [".", SOURCES, plugins], write: ["."] },
    });
    const answers = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
    expect(answers).toEqual(rows.map(([, content]) => ({ name: NAME, content, is_error: true })));
  });
});
