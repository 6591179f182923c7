/** The permission flags: from the words of the command line to what is meant, and back. */

import { parseAddress } from "./address.ts";
import { oneLine } from "../text.ts";
import { usageError } from "../usage_error.ts";

/** In the order in which they are shown. */
export const KINDS = ["read", "write", "run", "net", "env"] as const;
export type Kind = (typeof KINDS)[number];

/** The kinds of which a tool names each item. */
export type Listed = "net" | "env";

/** What one flag names: paths, programs, addresses or variables; `true` is all there is. */
export type Named = true | string[];

/**
 * The flags as they are meant: every item valid and in its one spelling, paths still as written (relative ones belong to
 * the workspace, which an executable's own flags do not know yet). `allow.run` alone can be `true` in `allow`: a bare
 * `--allow-read` or `--allow-write` names the workspace, `["."]`.
 */
export interface Flags {
  allow: Partial<Record<Kind, Named>>;
  deny: Partial<Record<Kind, Named>>;
  /** False: nobody can be asked. */
  prompt: boolean;
  /** Of an executable that was built with flags: beyond these hosts and variables nothing is asked for. */
  most?: Record<Listed, string[]>;
}

/** As the parser of the command line hands it over: `""` and `true` are a flag without a value, a list one given often. */
export type RawFlags =
  & { [Key in `${"allow" | "deny"}${Capitalize<Kind>}`]?: undefined | true | string | string[] }
  & { prompt?: boolean | undefined };

export interface FlagHelp {
  /** Without the dashes. */
  name: string;
  /** What its value is called; absent where it takes none. The value is optional and may be given more than once. */
  value?: string;
  help: string;
}

/** The rows of `--help`, for the program and for the build alike. */
export const PERMISSION_FLAGS: readonly FlagHelp[] = [
  { name: "allow-read", value: "paths", help: "what tools may read (default: the workspace)" },
  { name: "deny-read", value: "paths", help: "what no tool reads; without paths: anything" },
  { name: "allow-write", value: "paths", help: "what tools may change without asking; without paths: the workspace" },
  { name: "deny-write", value: "paths", help: "what no tool changes; without paths: anything" },
  { name: "allow-run", value: "names", help: "programs that tools may start without asking; without names: every one" },
  { name: "deny-run", value: "names", help: "programs that no tool starts; without names: any" },
  {
    name: "allow-net",
    value: "hosts",
    help: 'host:port that plugins reach without asking; "shell": commands reach any',
  },
  { name: "deny-net", value: "hosts", help: "host:port that no plugin fetches from; without hosts: any" },
  { name: "allow-env", value: "names", help: "environment variables that tools see without asking" },
  { name: "deny-env", value: "names", help: "environment variables that no tool sees; without names: any" },
  { name: "no-prompt", help: "never ask; what would be asked is refused" },
];

/** The word in `--allow-net` that means the network of commands instead of a host. */
export const SHELL_NET = "shell";

/** Throws a usage error that names the flag, the item, and what to write instead. */
export function parseFlags(raw: RawFlags): Flags {
  const flags: Flags = { allow: {}, deny: {}, prompt: raw.prompt ?? true };
  for (const kind of KINDS) {
    const key = `${kind[0]?.toUpperCase()}${kind.slice(1)}` as Capitalize<Kind>;
    const allow = parseAllow(kind, raw[`allow${key}`]);
    const deny = parseNamed("deny", kind, raw[`deny${key}`]);
    if (allow !== undefined) flags.allow[kind] = allow;
    if (deny !== undefined) flags.deny[kind] = deny;
  }
  const { net } = flags.deny;
  if (Array.isArray(net) && net.some((host) => host !== SHELL_NET) && includes(flags.allow.net, SHELL_NET)) {
    throw usageError(
      `Cannot use --allow-net=${SHELL_NET} with --deny-net=${
        net.join(",")
      }: a command with a network reaches any host. Leave one of them out`,
    );
  }
  return flags;
}

/** The arguments that `parseFlags` reads back as the same flags. */
export function printFlags(flags: Flags): string[] {
  const printed = KINDS.flatMap((kind) =>
    (["allow", "deny"] as const).flatMap((verb) => {
      const named = flags[verb][kind];
      return named === undefined ? [] : [printFlag(verb, kind, named)];
    })
  );
  return flags.prompt ? printed : [...printed, "--no-prompt"];
}

export function printFlag(verb: "allow" | "deny", kind: Kind, named: Named): string {
  return `--${verb}-${kind}${named === true ? "" : `=${named.join(",")}`}`;
}

/**
 * Rewrites a bare `--allow-x` or `--deny-x` to `--allow-x=`, so that it does not take the next word for its value; what
 * follows `--` stays as it is. An `=` with nothing after it is an error, as in Deno: an unset variable in a script
 * must not turn a list into "everything".
 */
export function normaliseArgv(argv: readonly string[]): string[] {
  const end = argv.includes("--") ? argv.indexOf("--") : argv.length;
  return argv.map((word, index) => {
    const [, flag, empty] = index < end ? /^(--(?:allow|deny)-(?:read|write|run|net|env))(=?)$/.exec(word) ?? [] : [];
    if (flag === undefined) return word;
    if (empty === "=") throw usageError(`Cannot use ${word}: its value is empty. Leave out the "=", or name something`);
    return `${flag}=`;
  });
}

/** Why a tool can never be given it, whatever the user says; undefined when it can. The words are for the tool's author. */
export function neverGiven(kind: Listed, item: string): string | undefined {
  if (kind === "env") return variableProblem(item, "allow");
  const parsed = parseAddress(item);
  return parsed.ok ? undefined : parsed.problem;
}

export function includes(named: Named | undefined, item: string): boolean {
  return named === true || (named?.includes(item) ?? false);
}

function parseAllow(kind: Kind, raw: RawFlags["allowRead"]): Named | undefined {
  if (kind === "run") return parseNamed("allow", kind, raw);
  const values = listOf(raw);
  if (values.includes("")) {
    if (kind === "net") throw usageError("Cannot use --allow-net without a value. Write --allow-net=host:port");
    if (kind === "env") throw usageError("Cannot use --allow-env without a value. Write --allow-env=NAME");
  }
  return parseNamed("allow", kind, values.map((value) => value === "" ? "." : value));
}

function parseNamed(verb: "allow" | "deny", kind: Kind, raw: RawFlags["allowRead"]): Named | undefined {
  const values = listOf(raw);
  const items = values.filter((value) => value !== "").flatMap((value) =>
    value.split(",").map((item) => parseItem(verb, kind, value, item))
  );
  if (values.includes("")) return true;
  return values.length === 0 ? undefined : [...new Set(items)];
}

function listOf(raw: RawFlags["allowRead"]): string[] {
  if (raw === undefined) return [];
  return raw === true ? [""] : Array.isArray(raw) ? raw : [raw];
}

function parseItem(verb: "allow" | "deny", kind: Kind, value: string, item: string): string {
  const fail = (problem: string) => usageError(`Cannot use --${verb}-${kind}=${oneLine(value)}: ${problem}`);
  if (item === "") throw fail("an item is empty. Put one comma between two items");
  if (item !== item.trim()) throw fail("an item begins or ends with a space. Put only a comma between two items");
  if (kind === "net") {
    if (item === SHELL_NET) return item;
    const parsed = parseAddress(item);
    if (!parsed.ok) throw fail(parsed.problem);
    return parsed.address;
  }
  const problem = PROBLEMS[kind](item, verb);
  if (problem !== undefined) throw fail(problem);
  return item;
}

// deno-lint-ignore no-control-regex -- these are the characters that this is about
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Never handed to a tool: they hold the key or make a runtime or loader run other code. */
const PRIVATE_VARIABLES = /^(ANTHROPIC|BUN|DENO|NODE|LD|DYLD)_/i;

const PROBLEMS = { read: pathProblem, write: pathProblem, run: programProblem, env: variableProblem };

function pathProblem(path: string): string | undefined {
  if (CONTROL.test(path)) return "a path holds a control character. Leave it out";
  if (path.includes("*")) return "a path is a file or a folder with all in it, not a pattern. Name the folder";
  if (/^~(\/|$)/.test(path)) return 'nothing replaces "~" here. Write the folder out';
}

function programProblem(name: string): string | undefined {
  if (CONTROL.test(name)) return "a name holds a control character. Leave it out";
  if (name.includes("*")) return "a program is named in full, not by a pattern. Name each one";
  if (/\s/.test(name)) return "a program is named without its arguments. Give the name alone";
}

function variableProblem(name: string, verb: "allow" | "deny"): string | undefined {
  if (name.includes("*")) return "a variable is named in full, not by a pattern. Name each one";
  if (!/^[A-Za-z_][A-Za-z0-9_()]*$/.test(name)) return "it is not the name of a variable. Give the name alone";
  if (verb === "allow" && PRIVATE_VARIABLES.test(name)) return "no tool ever gets this variable. Leave it out";
}
