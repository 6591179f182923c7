// deno-lint-ignore-file no-control-regex -- the prompt of a chat
/** What a test says to a chat on a pseudo-terminal. */

import type { Pty } from "./pty.ts";

/** Where a chat waits for a line. */
export const PROMPT = /› \x1b\[0m\r\x1b\[2C$/;

/** Types a line and waits for the words, then, unless a question comes, for the prompt. */
export async function say(pty: Pty, line: string, words: string): Promise<string> {
  pty.mark();
  pty.type(line);
  await Bun.sleep(20);
  pty.type("\r");
  await pty.until(words, 20_000);
  if (!words.endsWith("?")) await pty.until(PROMPT);
  return pty.since();
}

/** Answers a question: again and again, with a pause before it, until it counts (a busy machine may make the pause short). */
export async function press(pty: Pty, key: string, words: string): Promise<void> {
  const answers = () => [...pty.since().matchAll(/\[n\] no (?:yes|no|no answer)/g)].length;
  const before = answers();
  for (let tries = 1; tries < 8 && answers() === before; tries++) {
    await Bun.sleep(450 * tries);
    pty.type(key);
    for (let looks = 0; looks < 20 && answers() === before; looks++) await Bun.sleep(50);
  }
  await pty.until(words, 20_000);
}
