/** What an attack is: acts of a model, of a plugin or of a folder, against what must hold. */

import type { Way } from "../support/program.ts";
import type { Tree } from "../support/attack_tree.ts";

/** A call of the scripted model. */
export interface Call {
  name: string;
  input: { [name: string]: unknown };
}

/** A call, each the only one of its reply; or what the user does, in a shell of their own, before the next one. */
export type Step = Call | { user: string };

export interface Attack {
  /** Of the handed case; a letter behind it for another form of the same. */
  id: string;
  /** What must hold, as the end of a sentence that begins with tenon. */
  holds: string;
  /** For `sh`, in the folder of the tree, as the user. Words such as $WS are replaced everywhere in a row: see `Tree.words`. */
  setup?: string;
  /** A program of the user's that runs meanwhile, and is killed afterwards. */
  beside?: string;
  /** `evil.ts` in a plugin folder that the user named. */
  plugin?: string;
  steps?: readonly Step[];
  /** The words of the last answer. Default: "done". */
  says?: string;
  /** Further arguments, and variables of the user's environment. */
  args?: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** Keys that the user types, each when these words are on the screen. */
  types?: readonly { at: string | RegExp; keys: string }[];
  /** What is a breach beside what always is: see `breachesOf`. Answers with words for it. */
  breach?(seen: Seen): string | false | undefined | Promise<string | false | undefined>;
  /** The content of `$OUT/secret.txt` may be shown: it is a file of the workspace too. */
  mayShow?: true;
  /** The ways that it is run. Default: as the executable, and under Deno. */
  ways?: readonly Way[];
  control: Control;
}

/**
 * How it is shown that the act would do harm: an attack that breaches nowhere proves nothing.
 *
 * - `no fence`: the same run with `--sandbox=off`.
 * - `naive tool`: the calls go to a tool that opens whatever path it is given, without a fence.
 * - `user`: these commands, on the user's own terminal.
 * - `bare`: the same run from source without the flags of the README.
 * - `none`: why there is no control.
 */
export type Control = "no fence" | "naive tool" | "bare" | { user: string } | { none: string };

/** What could be seen of a run from outside. */
export interface Seen {
  tree: Tree;
  /** Of the calls, in their order. */
  results: { text: string; isError: boolean; tookMs: number }[];
  /** The bodies of all requests to the API. */
  requests: string;
  /** Every byte that reached the terminal. */
  tty: string;
  code: number;
}

/** All results as one text. */
export function textOf({ results }: Seen): string {
  return results.map(({ text }) => text).join("\n");
}
