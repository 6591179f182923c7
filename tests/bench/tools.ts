/** The tools that read, change and run things, on a host that is warm. */

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { openCalls } from "./calls.ts";
import { greatestPeakBelow } from "./memory.ts";
import { type Program, timeOfCommand } from "./program.ts";
import { compare, type Rows, timeOf } from "./row.ts";

const LINE = "a line of forty characters, as code has\n";
const GRANTED = ["--allow-write", "--allow-run"];

export async function* toolRows(program: Program): Rows {
  const root = join(program.folder, "files");
  await mkdir(root);
  await using calls = await openCalls(program, root, GRANTED);
  const own = (name: string) => join(root, name);
  const sh = (command: string) => timeOfCommand(["sh", "-c", command], root);

  await Bun.write(own("long.txt"), LINE.repeat(1_250_000));
  yield await compare({
    ...{ what: "read_file: last 10 lines of 50 MB", unit: "ms", times: 5 },
    ours: () => timeOf(() => calls.call("read_file", { path: "long.txt", offset: 1_249_991 })),
    against: { what: "sed -n '1249991,$p'", figure: () => sh("sed -n '1249991,$p' long.txt") },
  });

  await Bun.write(own("large.txt"), `first\n${LINE.repeat(250_000)}version 0\n`);
  await calls.call("read_file", { path: "large.txt" });
  let version = 0;
  const edit = () =>
    calls.call("edit_file", {
      path: "large.txt",
      old_string: `version ${version}`,
      new_string: `version ${++version}`,
    });
  yield await compare({
    ...{ what: "edit_file: one place of 10 MB", unit: "ms", times: 5 },
    ours: () => timeOf(edit),
    against: { what: "sed s/version/version/", figure: () => sh("sed s/version/version/ large.txt >large2.txt") },
  });

  yield await compare({
    ...{ what: "bash: true", unit: "ms", times: 15 },
    ours: () => timeOf(() => calls.call("bash", { command: "true" })),
    against: { what: "sh -c true", figure: () => sh("true") },
  });

  // A session of its own: the only host in it is the one that had the output.
  await using other = await openCalls(program, root, GRANTED);
  const flood = "head -c 700000000 /dev/zero | tr '\\0' x";
  yield await compare({
    ...{ what: "bash: 700 MB of output, time", unit: "ms", times: 1 },
    ours: () => timeOf(() => other.call("bash", { command: flood })),
    against: { what: "sh, into cat", figure: () => sh(`${flood} | cat >/dev/null`) },
  });
  yield { what: "bash: 700 MB of output, memory", ours: greatestPeakBelow(other.pid), unit: "MB", aim: { most: 150 } };
}
