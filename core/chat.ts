/** The command's side of a chat: one conversation, its grants, its commands. */

import process from "node:process";
import type { ReadStream } from "node:tty";
import { runTurn } from "./agent.ts";
import { isApiError } from "./api_error.ts";
import { appendText } from "./history.ts";
import type { Message } from "./message.ts";
import { join } from "./path.ts";
import { askAt, UNCONFINED } from "./question.ts";
import { type Command, runChat } from "./repl.ts";
import type { Screen } from "./screen.ts";
import type { OpenModel, Setup } from "./start.ts";
import { oneLine } from "./text.ts";
import { toolLines, toolList } from "./tool_list.ts";
import { EXIT } from "./turn.ts";

export interface ChatOptions {
  setup: Setup;
  model: OpenModel;
  maxSteps: number;
  screen: Screen;
}

/** Runs the chat until the user leaves. */
export async function chat({ setup, model, maxSteps, screen }: ChatOptions): Promise<number> {
  const { root, fence, registry, catalog, approval, seen, folders } = setup;
  const messages: Message[] = [];
  if (model.note) screen.write(`${model.note}\n`);
  await runChat({
    header: {
      model: model.name,
      folder: root,
      fence: fence.landlock_abi ? `${fence.level} (Landlock ABI ${fence.landlock_abi})` : fence.level,
    },
    async *turn(text, io) {
      approval.ask = askAt(screen, io, setup.confined ? undefined : UNCONFINED);
      appendText(messages, text);
      yield* runTurn({ ask: model.ask, registry, maxSteps, signal: io.signal }, messages);
    },
    reset() {
      messages.splice(0);
      seen.clear();
      approval.forget();
    },
    tools: () => toolLines(toolList(catalog, registry)).join("\n"),
    commands: { permissions: permissionsCommand(setup) },
    ...(folders.state === undefined ? {} : { historyFile: join(folders.state, "history") }),
    wordsFor: (error) => isApiError(error) ? error.message : `a bug: ${oneLine(String(error), 500)}`,
  }, { stdin: process.stdin as ReadStream, screen });
  return EXIT.done;
}

function permissionsCommand({ approval }: Setup): Command {
  return {
    help: "what was granted for this session; /permissions revoke N, or all",
    run(words) {
      const [verb, what] = words.split(/\s+/);
      if (verb === "revoke" && what === "all") {
        approval.forget();
        return "Taken back: every grant";
      }
      if (verb === "revoke") {
        return approval.revoke(Number(what)) ? "Taken back" : `There is no grant ${oneLine(what ?? "")}`;
      }
      const lines = approval.grants().map((grant, index) => `  ${index + 1}. ${grant}`);
      return lines.length > 0 ? lines.join("\n") : "Nothing is granted for this session";
    },
  };
}
