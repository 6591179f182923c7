import { describe, expect, test } from "bun:test";
import { chmod, readdir } from "node:fs/promises";
import { join } from "node:path";
import { newPluginFolder, typesText, writeNewPlugin } from "../core/plugins/new_plugin.ts";
import { tempWorkspace } from "./support/temp_workspace.ts";

describe("newPluginFolder", () => {
  test("is the first of --plugins, else the user's own", () => {
    expect(newPluginFolder(["/a", "/b"], "/config")).toBe("/a");
    expect(newPluginFolder([], "/config")).toBe("/config/plugins");
    expect(() => newPluginFolder([], undefined)).toThrow("Name one with --plugins DIR");
  });
});

describe("writeNewPlugin", () => {
  const names: [name: string, how: string][] = [
    ["", "a name needs 1 to 64 of the characters a–z A–Z 0–9 _ -"],
    ["my tool", "a name needs 1 to 64 of the characters a–z A–Z 0–9 _ -"],
    ["../x", "a name needs 1 to 64 of the characters a–z A–Z 0–9 _ -"],
    ["a.b", "a name needs 1 to 64 of the characters a–z A–Z 0–9 _ -"],
    ["x".repeat(65), "a name needs 1 to 64 of the characters a–z A–Z 0–9 _ -"],
    ["_private", "a file of that name is no plugin. Take another"],
    ["mod", "a file of that name is no plugin. Take another"],
    ["a_test", "a file of that name is no plugin. Take another"],
    ["NUL", "it is the name of a device on Windows, where no file can have it. Take another"],
    ["com1", "it is the name of a device on Windows, where no file can have it. Take another"],
    ["tenon", "the types that plugins import are called so. Take another"],
    ["read_file", "it is the name of a built-in tool. Take another"],
  ];
  test.each(names)("refuses the name %j before it writes anything", async (name, how) => {
    await using folder = await tempWorkspace();
    const error = await writeNewPlugin(name, folder.root).catch((error) => error);
    expect(error.message).toBe(`Cannot make a plugin named "${name}": ${how}`);
    expect(await readdir(folder.root)).toEqual([]);
  });

  test.each(["a.ts", "a.test.ts", "tenon.d.ts"])("overwrites no %s, and then writes nothing else", async (file) => {
    await using folder = await tempWorkspace({ [file]: "mine" });
    const error = await writeNewPlugin("a", folder.root).catch((error) => error);
    expect(error.message).toBe(`Cannot make a plugin named "a": ${join(folder.root, file)} is there already`);
    expect(await readdir(folder.root)).toEqual([file]);
  });

  test.each(["b/a.ts", "b/a.mjs", "a.js"])("writes no plugin beside one of its name, here %s", async (file) => {
    await using folder = await tempWorkspace({ [file]: "export {};", "b/c.ts": "export {};" });
    const others = [join(folder.root, "nowhere"), folder.root, join(folder.root, "b")];
    const error = await writeNewPlugin("a", folder.root, others).catch((error) => error);
    expect(error.message).toBe(
      `Cannot make a plugin named "a": the name is taken (${join(folder.root, file)}). Take another`,
    );
    expect(await readdir(folder.root)).not.toContain("a.ts");
  });

  test("writes a second plugin beside the first, with the types as they are now", async () => {
    await using folder = await tempWorkspace();
    await writeNewPlugin("a", folder.root);
    const types = join(folder.root, "tenon.d.ts");
    const text = await Bun.file(types).text();
    await Bun.write(types, text.slice(0, 200));
    expect(await writeNewPlugin("b", folder.root)).toEqual(
      ["b.ts", "b.test.ts", "tenon.d.ts"].map((name) => join(folder.root, name)),
    );
    expect(await Bun.file(types).text()).toBe(text);
  });

  test.skipIf(process.getuid?.() === 0)("says so of a folder that it may not write", async () => {
    await using folder = await tempWorkspace();
    await chmod(folder.root, 0o500);
    const error = await writeNewPlugin("a", folder.root).catch((error) => error);
    await chmod(folder.root, 0o700);
    expect(error.message).toEndWith("cannot be written to. Name another folder with --plugins DIR");
  });
});

test("typesText declares all that core/tool.ts does, and imports nothing", async () => {
  const source = await Bun.file(join(import.meta.dir, "..", "core", "tool.ts")).text();
  const names = [...source.matchAll(/^export (?:type|interface) (\w+)/gm)].map(([, name]) => name ?? "");
  const text = await typesText();
  expect(names).toContain("Preview");
  for (const name of names) expect(text).toMatch(new RegExp(`^  export (type|interface) ${name}\\b`, "m"));
  expect(text).not.toMatch(/^\s*import /m);
});
