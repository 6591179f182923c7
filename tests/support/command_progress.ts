/** Runs its argument as a command and prints each last line that a user would be shown. */

import { runCommand } from "../../core/commands/command.ts";

if (import.meta.main) {
  await runCommand({
    command: process.argv[2]!,
    cwd: process.cwd(),
    env: { PATH: process.env["PATH"] ?? "" },
    timeoutMs: 10_000,
    signal: new AbortController().signal,
    progress: (output) => console.log(output.lastLine()),
  });
}
