/** What was found out of plugins before, by the hash of their files: a start without changes imports nothing. */

import { readdirSync, statSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
// @ts-types="../../node_modules/valibot/dist/index.d.mts"
import * as v from "valibot";
import { join } from "../path.ts";
import { Loaded } from "../hosts/protocol.ts";
import { isExecutable, runtimeName } from "../runtime.ts";
import { readState, writeState } from "../state_file.ts";
import packageJson from "../../package.json" with { type: "json" };

/** Why a plugin does not load: it is `late` when it was given up. */
const Refused = v.object({ problem: v.string(), late: v.exactOptional(v.literal(true)) });
export type Refused = v.InferOutput<typeof Refused>;

export interface DefinitionCache {
  get(sha256: string): Loaded | Refused | undefined;
  put(sha256: string, verdict: Loaded | Refused): void;
  forget(sha256: string): void;
  /** Writes what is new. Never throws: without the file the next start only takes longer. */
  save(): Promise<void>;
}

/** Kept at most; those used last stay. */
const LIMIT = 500;

const Kept = v.object({ program: v.string(), definitions: v.record(v.string(), v.union([Loaded, Refused])) });

/** Opens the cache in the state folder; without a folder nothing is kept. Another version of the program starts anew. */
export async function openDefinitionCache(state: string | undefined): Promise<DefinitionCache> {
  const file = state === undefined ? undefined : join(state, "definitions.json");
  const program = programMark();
  const kept = v.safeParse(Kept, file === undefined ? undefined : await readState(file));
  const old = kept.success && kept.output.program === program ? Object.entries(kept.output.definitions) : [];
  const known = new Map(old);
  const used = new Set<string>();
  let isNew = false;
  return {
    get(sha256) {
      const verdict = known.get(sha256);
      if (verdict) used.add(sha256);
      return verdict;
    },
    put(sha256, verdict) {
      known.set(sha256, verdict);
      used.add(sha256);
      isNew = true;
    },
    forget(sha256) {
      if (known.delete(sha256)) isNew = true;
    },
    async save() {
      if (file === undefined || !isNew) return;
      isNew = false;
      const inOrder = [...known].filter(([sha256]) => !used.has(sha256));
      inOrder.push(...[...known].filter(([sha256]) => used.has(sha256)));
      await writeState(file, { program, definitions: Object.fromEntries(inOrder.slice(-LIMIT)) });
    },
  };
}

/** What made them: from source the files of this folder, which check plugins and tell what is wrong, else the executable. */
function programMark(): string {
  const files = isExecutable() ? [process.execPath] : sources();
  const times = files.map((file) => statSync(file).mtimeMs);
  return [packageJson.version, runtimeName(), ...times].join(" ");
}

function sources(): string[] {
  const folder = fileURLToPath(new URL(".", import.meta.url));
  return readdirSync(folder).sort().map((name) => join(folder, name));
}
