import { expect, test } from "bun:test";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { openPrintLog, printFolder } from "../core/hosts/print_log.ts";
import { tempWorkspace } from "./support/temp_workspace.ts";

test("openPrintLog keeps what each plugin prints, below what earlier starts have kept, for the user alone", async () => {
  await using temp = await tempWorkspace();
  const folder = join(temp.root, "printed");
  for (const text of ["one\n", "two\n"]) {
    const log = openPrintLog(folder);
    log.print("loud", text);
    log.print("other", "x");
    log.close();
  }
  const kept = await readFile(join(folder, "loud.log"), "utf8");
  expect(kept.replace(/^--- .*Z$/gm, "---")).toBe("---\none\n---\ntwo\n");
  expect((await stat(join(folder, "loud.log"))).mode & 0o777).toBe(0o600);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
});

test("openPrintLog keeps the last 100,000 characters, and none that would act on a terminal", async () => {
  await using temp = await tempWorkspace();
  const log = openPrintLog(temp.root);
  for (let i = 0; i < 1000; i++) log.print("endless", "x".repeat(10_000));
  log.print("endless", "\u001b]52;c;QUJD\u0007END");
  log.close();
  const kept = await readFile(join(temp.root, "endless.log"), "utf8");
  expect(kept.length).toBe(100_000);
  expect(kept).toEndWith("\\u{1b}]52;c;QUJD\\u{7}END");
});

test("openPrintLog never fails, with a folder that cannot be made or without one", async () => {
  await using temp = await tempWorkspace({ "a file": "" });
  for (const folder of [join(temp.root, "a file", "below"), printFolder(undefined)]) {
    const log = openPrintLog(folder);
    log.print("p", "text");
    log.close();
  }
});
