/** `npm test`: runs `bun test` and closes with one line that counts. */

import { spawn } from "node:child_process";
import process from "node:process";

// Most tests wait for processes, so two files run at a time; fewer tests of one file at once keep their waits within the limits.
const args = ["test", "--parallel=2", "--max-concurrency=8", ...process.argv.slice(2)];
const child = spawn(process.execPath, args, { stdio: ["ignore", "inherit", "pipe"] });
let tail = "";
child.stderr.on("data", (chunk: Uint8Array) => {
  process.stderr.write(chunk);
  tail = (tail + new TextDecoder().decode(chunk)).slice(-2000);
});
child.on("close", (code) => {
  const count = (word: string) => Number([...tail.matchAll(new RegExp(`^ *(\\d+) ${word}\\b`, "gm"))].at(-1)?.[1] ?? 0);
  const [passed, failed, skipped] = [count("pass"), count("fail"), count("skip")];
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  process.exit(passed > 0 && code !== null ? code : 1);
});
