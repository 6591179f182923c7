// deno-lint-ignore-file no-control-regex -- control characters are what this is about
/** A user at the terminal who is asked: waits for a question and answers it, says a line in a chat, reads what the model was told. */

import { PAUSE_MS } from "../../core/terminal/ask.ts";
import type { FakeApi } from "./fake_api.ts";
import type { Pty } from "./pty.ts";

/** An empty line of a chat, and nothing after it. */
export const PROMPT = /› \x1b\[0m\r\x1b\[2C$/;

/** Waits for the question behind the last mark, and answers it by a key that counts. */
export async function answer(
  pty: Pty,
  key: string,
  echo: string | RegExp,
  question: string | RegExp = "no, with a word",
): Promise<string> {
  await pty.until(question);
  await pty.until(/no, with a word (?: \[s\] show all )?(?:\x07|\r\n.*Press .*:.*)*$/);
  const shown = pty.since();
  pty.mark();
  // A busy machine may have shown the question late: then the pause was too short, and the key is tried again.
  for (let tries = 1; tries < 8; tries++) {
    await Bun.sleep(PAUSE_MS * tries + 50);
    pty.type(key);
    if (await pty.until(echo, 500).then(() => true, () => false)) return shown;
  }
  await pty.until(echo);
  return shown;
}

/** What the model was told of the calls of its last reply. */
export function results(api: FakeApi, request: number): string[] {
  return api.requests[request]?.body.messages.at(-1).content
    .filter((block: { type: string }) => block.type === "tool_result")
    .map(({ content }: { content: string | { text: string }[] }) =>
      typeof content === "string" ? content : content.map(({ text }) => text).join("")
    );
}

/** Types a line at the empty prompt of a chat. */
export async function say(pty: Pty, line: string) {
  await pty.until(PROMPT);
  pty.mark();
  pty.type(`\x15${line}`);
  await Bun.sleep(5);
  pty.type("\r");
}
