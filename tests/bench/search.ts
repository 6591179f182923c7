/** Search, glob and listing over 100,000 files, on a host that is warm. */

import { mkdir } from "node:fs/promises";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openCalls } from "./calls.ts";
import { type Program, timeOfCommand } from "./program.ts";
import { compare, type Rows, timeOf } from "./row.ts";

const FOLDERS = 1000;
const FILES = 100;

/** What is looked for, how, and what else can. */
const SEARCHES: [what: string, tool: string, input: object, others: string[][]][] = [
  ["search_code: a word in 10 files", "search_code", { pattern: "needle" }, [["rg", "-n", "needle"]]],
  ["search_code: a pattern in 10 files", "search_code", { pattern: "ne+dle\\d*$" }, [["rg", "-n", "ne+dle\\d*$"]]],
  ["search_code: a pattern without a fixed part", "search_code", { pattern: "[n]\\w{4}e\\b" }, [
    ["rg", "-n", "[n]\\w{4}e\\b"],
  ]],
  ["glob: 10 names", "glob", { pattern: "rare_*.ts" }, [
    ["fd", "--glob", "rare_*.ts"],
    ["find", ".", "-name", "rare_*.ts"],
  ]],
  ["list_files: the whole tree", "list_files", { recursive: true }, [["rg", "--files"], ["find", "."]]],
];

export async function* searchRows(program: Program): Rows {
  const root = await makeTree(join(program.folder, "tree"));
  await using calls = await openCalls(program, root);
  for (const [what, tool, input, others] of SEARCHES) {
    for (const command of others.filter(([name = ""]) => Bun.which(name))) {
      yield await compare({
        ...{ what: `${what}, of 100,000`, unit: "ms", times: 3 },
        ours: () => timeOf(() => calls.call(tool, input)),
        against: { what: command.join(" "), figure: () => timeOfCommand(command, root) },
      });
    }
  }
}

/** Small files of code, as a large repository has them; every 10,000th is one to be found. */
async function makeTree(root: string): Promise<string> {
  for (let folder = 0; folder < FOLDERS; folder++) {
    const path = join(root, `part${folder % 10}`, `folder${folder}`);
    await mkdir(path, { recursive: true });
    for (let file = 0; file < FILES; file++) {
      const rare = folder % 100 === 7 && file === 7;
      const lines = Array.from({ length: 10 }, (_, line) => `export const value${line} = ${folder * file + line};`);
      const text = [...lines, ...(rare ? ["// needle1"] : []), ""].join("\n");
      writeFileSync(join(path, `${rare ? "rare" : "file"}_${file}.ts`), text);
    }
  }
  return root;
}
