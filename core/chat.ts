/** The command's side of a chat: one conversation, its grants, its commands. */

import process from "node:process";
import type { ReadStream } from "node:tty";
import { type Ask, runTurn } from "./agent.ts";
import { isApiError } from "./model/api_error.ts";
import type { Catalog } from "./plugins/catalog.ts";
import { appendText } from "./history.ts";
import { leavingLine } from "./hosts/leaving.ts";
import type { Message } from "./message.ts";
import { join } from "./path.ts";
import { deniedInside } from "./permissions/denied_inside.ts";
import { describePolicy } from "./permissions/policy.ts";
import { askAt, UNCONFINED } from "./terminal/question.ts";
import { askWithoutRefused } from "./model/refused_tool.ts";
import { type Command, runChat, type TurnIo } from "./terminal/repl.ts";
import type { Screen } from "./terminal/screen.ts";
import type { OpenModel, Setup } from "./start.ts";
import { whatIsNotKept } from "./state_file.ts";
import { oneLine, visible } from "./text.ts";
import { toolLines, toolList } from "./tool_list.ts";
import { describeTrustable } from "./plugins/trust_notice.ts";
import { EXIT } from "./turn.ts";

export interface ChatOptions {
  setup: Setup;
  model: OpenModel;
  maxSteps: number;
  screen: Screen;
}

/** Runs the chat until the user leaves. */
export async function chat({ setup, model, maxSteps, screen }: ChatOptions): Promise<number> {
  const { root, fence, catalog, approval, seen, kept } = setup;
  const messages: Message[] = [];
  const askTrust = trustAsker(setup);
  let offered = setup.registry.definitions;
  let ask = askFor(model, setup);
  const leaving = leavingLine(setup.policy, setup.registry.tools);
  const unkept = whatIsNotKept(kept);
  if (model.note) screen.write(`${model.note}\n`);
  await runChat({
    header: {
      model: model.name,
      folder: root,
      fence: fence.landlock_abi ? `${fence.level} (Landlock ABI ${fence.landlock_abi})` : fence.level,
      notices: [
        ...deniedInside(setup.policy),
        ...(leaving === undefined ? [] : [leaving]),
        ...(unkept === undefined ? [] : [unkept]),
      ],
    },
    async *turn(text, io) {
      setup.undo.newTurn();
      approval.ask = askAt(screen, io, setup.confined ? undefined : UNCONFINED);
      const changes = await setup.reload({ askTrust: (untrusted) => askTrust(untrusted, io, screen) });
      for (const text of changes) yield { type: "warning", text };
      if (io.signal.aborted) return yield { type: "end", stop_reason: "interrupted", steps: 0 };
      if (setup.registry.definitions !== offered) ask = askFor(model, setup);
      offered = setup.registry.definitions;
      appendText(messages, text);
      yield* runTurn({ ask, registry: setup.registry, maxSteps, signal: io.signal }, messages);
    },
    reset() {
      messages.splice(0);
      seen.clear();
      approval.forget();
    },
    tools: () => toolLines(toolList(catalog, setup.registry)).join("\n"),
    commands: { permissions: permissionsCommand(setup), reload: reloadCommand(setup), undo: undoCommand(setup) },
    ...(kept === undefined ? {} : { historyFile: join(kept, "history") }),
    wordsFor: (error) => isApiError(error) ? error.message : `a bug: ${oneLine(String(error), 500)}`,
  }, { stdin: process.stdin as ReadStream, screen });
  return EXIT.done;
}

function askFor({ askWith }: OpenModel, { registry, catalog }: Setup): Ask {
  return askWithoutRefused({ askWith, definitions: registry.definitions, refuse: catalog.refuse });
}

/** Puts the question whether what lies in the workspace is trusted; what was refused is asked for again once it changed. */
function trustAsker({ catalog, root }: Setup) {
  const refused = new Map<string, string>();
  return async (untrusted: Catalog["untrusted"], io: TurnIo, screen: Screen): Promise<boolean> => {
    let isAny = false;
    const open = untrusted.filter(({ file, closure }) => refused.get(file) !== closure.sha256);
    for (const [index, plugin] of open.entries()) {
      const count = open.length > 1 ? `(${index + 1} of ${open.length}) ` : "";
      const answer = await io.askKey(`${count}Trust the plugin ${describeTrustable(plugin, root)}?`, TRUST);
      if (answer === undefined) break;
      refused.set(plugin.file, plugin.closure.sha256);
      if (answer !== "y") continue;
      try {
        await catalog.trust(plugin);
        refused.delete(plugin.file);
        isAny = true;
      } catch (error) {
        screen.write(`Not trusted: ${visible(error instanceof Error ? error.message : String(error))}\n`);
      }
    }
    return isAny;
  };
}

const TRUST = [{ key: "y", label: "yes, as it is now" }, { key: "n", label: "no" }];

function reloadCommand({ reload, catalog }: Setup): Command {
  return {
    help: "look at the plugins again now, also at what a turn would not notice",
    async run() {
      const lines = await reload({ again: true });
      const waiting = catalog.untrusted.length > 0 ? ["The next turn asks whether to trust what is not trusted"] : [];
      return lines.length > 0 ? [...lines, ...waiting].join("\n") : ["No plugin has changed", ...waiting].join("\n");
    },
  };
}

function undoCommand({ undo }: Setup): Command {
  const help =
    "take back what the last turn changed in files; /undo force also what was changed since, which is then lost";
  return {
    help,
    async run(words) {
      if (words !== "" && words !== "force") return `There is no /undo ${oneLine(words)}. Use /undo, or /undo force`;
      const { lines, isEarlier } = await undo.takeBack({
        force: words === "force",
        forceWords: "/undo force",
        signal: new AbortController().signal,
      });
      return [...(isEarlier ? ["This was changed before this chat:"] : []), ...lines].join("\n");
    },
  };
}

const PERMISSIONS_HELP = "what was granted for this session; /permissions revoke N, or all";

function permissionsCommand({ approval, policy }: Setup): Command {
  return {
    help: PERMISSIONS_HELP,
    run(words) {
      const [verb, what] = words.split(/\s+/);
      if (verb === "revoke" && what === "all") {
        approval.forget();
        return "Taken back: every grant";
      }
      if (verb === "revoke") {
        if (what === undefined) return "Name one: /permissions revoke N, or all";
        return approval.revoke(Number(what)) ? `Taken back: ${what}` : `There is no grant ${oneLine(what)}`;
      }
      if (verb !== "" && verb !== undefined) {
        return `There is no /permissions ${oneLine(verb)}. Use /permissions, or /permissions revoke N, or all`;
      }
      const lines = approval.grants().map((grant, index) => `  ${index + 1}. ${grant}`);
      return [describePolicy(policy), ...(lines.length > 0 ? lines : ["Nothing is granted for this session"])].join(
        "\n",
      );
    },
  };
}
