/** Under Deno: what tenon itself works with and was not given. Each is a feature that is off, never an error. */

import type { DenoDescriptor, DenoQuery, Missing } from "./deno_grants.ts";
import { oneLine } from "../text.ts";

export interface Needs {
  /** Where the API is, as `host:port`. */
  api: string;
  /** Folders that plugins are looked for in: absolute. */
  pluginFolders: readonly string[];
  /** The state folder: absolute. */
  state: string | undefined;
}

/** To `query` a flag that denies and `--ignore-env` look the same: both are told as a grant that is not there. */
export function programNeeds(query: DenoQuery, { api, pluginFolders, state }: Needs): Missing[] {
  const missing: Missing[] = [];

  function need(feature: string, flag: string, anyOf: readonly DenoDescriptor[]): void {
    if (anyOf.some((descriptor) => query(descriptor) === "granted")) return;
    const [name] = flag.split("=");
    missing.push({ feature, flag, reason: `Deno has no ${name} for it; start with deno run ${flag}` });
  }

  function env(...names: string[]): DenoDescriptor[] {
    return names.map((variable) => ({ name: "env", variable }));
  }

  need("the key", "--allow-env=ANTHROPIC_*", env("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"));
  need(`the API at ${api}`, `--allow-net=${api}`, [{ name: "net", host: api }]);
  need("your home folder", "--allow-env=HOME", env("HOME", "USERPROFILE"));
  const files = (feature: string, name: "read" | "write", path: string) =>
    need(feature, oneLine(`--allow-${name}=${path.replaceAll(",", ",,")}`), [{ name, path }]);
  for (const path of pluginFolders) files(`plugins in ${oneLine(path)}`, "read", path);
  if (state !== undefined) {
    for (const name of ["read", "write"] as const) {
      files(`undo, and all else that is kept in ${oneLine(state)}`, name, state);
    }
  }
  return missing;
}
