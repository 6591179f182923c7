/** When the API refuses a tool: set its plugin aside and ask once more without it. Wraps `ask`; the loop knows nothing of it. */

import type { Ask, Event } from "../agent.ts";
import { isApiError } from "./api_error.ts";
import type { Reply } from "../message.ts";
import type { WireDefinition } from "../registry.ts";

export interface AskOptions {
  askWith(definitions: readonly WireDefinition[]): Ask;
  definitions: readonly WireDefinition[];
  /** Sets the plugin of this tool aside, with the API's words. False when it has none: then the refusal stands. */
  refuse(tool: string, words: string): boolean;
}

/** Each refusal takes one tool away, so there are no more requests than tools. */
export function askWithoutRefused({ askWith, definitions, refuse }: AskOptions): Ask {
  let offered = definitions;
  let ask = askWith(offered);
  return async function* (messages, signal): AsyncGenerator<Event, Reply> {
    while (true) {
      try {
        return yield* ask(messages, signal);
      } catch (error) {
        const tool = refusedTool(error, offered);
        if (tool === undefined || !refuse(tool.name, tool.words)) throw error;
        offered = offered.filter(({ name }) => name !== tool.name);
        ask = askWith(offered);
        yield { type: "warning", text: `The API refuses the tool ${tool.name}, which is set aside: ${tool.words}` };
      }
    }
  };
}

/** The API counts the tools of the request from 0: `tools.3.custom.input_schema: …`. */
function refusedTool(error: unknown, offered: readonly WireDefinition[]): { name: string; words: string } | undefined {
  if (!isApiError(error) || error.status !== 400 || error.words === undefined) return undefined;
  const place = /\btools\.(\d{1,4})\b/.exec(error.words)?.[1];
  const name = place === undefined ? undefined : offered[Number(place)]?.name;
  return name === undefined ? undefined : { name, words: error.words };
}
