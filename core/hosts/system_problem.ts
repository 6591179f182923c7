/** What is said of an error of the system, or of Deno's permissions, that a handler lets through. */

import { codeOf, quoted, reasonFor } from "../files/refusal.ts";
import { basename, isAbsolute } from "../path.ts";
import type { Permissions } from "../tool.ts";

/** As Node.js's API gives it, which both runtimes follow. (Source: "Class: SystemError", Node.js documentation, Errors.) */
interface SystemError extends Error {
  code?: unknown;
  errno?: unknown;
  syscall?: unknown;
  path?: unknown;
}

/**
 * What the handler tried past its context, in words that are the same on every runtime and hold no number and no host path, with
 * the way that is meant for it; undefined for an error of any other kind, such as an author's own. `declared` is what the tool declares.
 */
export function systemProblem(thrown: unknown, declared: Permissions): string | undefined {
  try {
    return thrown instanceof Error ? wordsFor(thrown, declared) : undefined;
  } catch {
    return undefined; // it throws at whoever reads it
  }
}

function wordsFor(error: SystemError, declared: Permissions): string | undefined {
  const wanted = wantedOf(error, declared);
  if (wanted === "net") {
    const declare = (declared.net?.length ?? 0) > 0 ? "" : 'declare permissions: { net: ["host:port"] }, and ';
    return `a plugin has no network of its own. In its code, ${declare}use context.fetch`;
  }
  if (wanted === "env") {
    return 'it reads a variable that it was not given. Its definition needs permissions: { env: ["NAME"] }';
  }
  if (wanted === undefined) return undefined;
  const code = codeOf(error) ?? "NOT_GRANTED";
  const isRefused = REFUSALS.has(code);
  if (wanted === "run" && isRefused && declared.run !== true) {
    return "it starts a program, which it does not declare. Its definition needs permissions: { run: true }";
  }
  const why = isRefused ? "the system does not permit it" : reasonFor(code);
  if (wanted === "run") return `it cannot start ${nameOf(error) ?? "a program"}: ${why}`;
  if (wanted === "file") {
    return `it reaches for ${nameOf(error) ?? "a file"} by itself: ${why}. Its code should use context.workspace`;
  }
  if (wanted === "call") return `what it asks of the system failed: ${why}`;
  return `it asks Deno for ${wanted} access, which no plugin is given`;
}

const REFUSALS = new Set(["EACCES", "EPERM", "NOT_GRANTED"]);
const NETWORK = /^(?:getaddrinfo|query\w*|connect|bind|listen|socket|send|recv)\b/;

/** `net`, `run`, `env`, `file`, another word of Deno's, or `call` for all else; undefined where it is not the system's. */
function wantedOf(error: SystemError, declared: Permissions): string | undefined {
  const { message, code, errno, syscall, path } = error;
  if (error.name === "NotCapable") {
    const kind = /^Requires (\w+) access/.exec(message)?.[1] ?? "more";
    if (kind === "sys" && / access to "ca"/.test(message)) return "net"; // certificates, before it connects
    return kind === "read" || kind === "write" ? "file" : kind;
  }
  // Deno's `execSync` keeps the reason to itself; without `run` there is one only.
  if (declared.run !== true && error.name === "Error" && /^Command failed: /.test(message)) return "run";
  if (typeof path === "string" && /^(?:https?|wss?):/i.test(path)) return "net"; // Bun's fetch
  // Deno's own API gives a class and a code; an author's code has no number beside it.
  const isSystem = typeof code === "string" && /^E(?!RR_)[A-Z0-9_]+$/.test(code) &&
    (typeof errno === "number" || / \(os error \d+\)/.test(message));
  if (!isSystem) return undefined;
  const call = typeof syscall === "string" ? syscall : "";
  if (NETWORK.test(call)) return "net";
  if (/spawn/.test(call)) return "run";
  return nameIn(error) === undefined ? "call" : "file";
}

/** As the handler named it; of an absolute path the last part alone. */
function nameOf(error: SystemError): string | undefined {
  const name = nameIn(error);
  const shown = name !== undefined && isAbsolute(name) ? basename(name) : name;
  return shown === undefined || shown === "" ? undefined : quoted(shown);
}

function nameIn({ path, message }: SystemError): string | undefined {
  if (typeof path === "string" && path !== "") return path;
  const [, named, atEnd] = / access to "([^"]+)"|'([^']+)'$/.exec(message) ?? [];
  return named ?? atEnd;
}
