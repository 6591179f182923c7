/** The commands for whoever writes a plugin: `tenon new` and `tenon check`. */

import { checkFile, checkLines } from "./check.ts";
import { openDefinitionCache } from "./definition_cache.ts";
import { connectFor } from "../hosts/connect.ts";
import type { FenceStatus } from "../fence/fence_rules.ts";
import { createHosts } from "../hosts/hosts.ts";
import { findPlugins } from "./plugins.ts";
import { newPluginFolder, writeNewPlugin } from "./new_plugin.ts";
import { join, resolve } from "../path.ts";
import { realOf } from "../place.ts";
import { placeToKeep, type Premises, userFolders } from "../premises.ts";
import { mayRead, ownPluginFolder } from "../runtime.ts";
import { shellWord } from "./shell_word.ts";
import type { Screen } from "../terminal/screen.ts";
import { visible } from "../text.ts";
import { EXIT } from "../turn.ts";

/** Runs no plugin, so it needs no fence; and it writes where nobody behind one may. The files' paths go to stdout. */
export async function runNew(
  name: string,
  named: readonly string[],
  { stdout, stderr }: { stdout: Screen; stderr: Screen },
): Promise<number> {
  const folders = userFolders();
  const folder = newPluginFolder(named, placeToKeep(folders.config, folders));
  const own = folders.config === undefined ? [] : [join(folders.config, "plugins")];
  const others = [ownPluginFolder(), ...own, ...named].map((path) => realOf(resolve(path))).filter(mayRead);
  const files = await writeNewPlugin(name, folder, others);
  stdout.write(files.map((file) => `${visible(file)}\n`).join(""));
  for (const line of nextSteps(name, folder, named.length > 0)) stderr.write(`${visible(line)}\n`);
  return EXIT.done;
}

/** Commands that can be pasted, wherever that is; the name is one that needs no quotes. */
function nextSteps(name: string, folder: string, isNamed: boolean): string[] {
  const place = shellWord(resolve(folder));
  const test = shellWord(join(resolve(folder), `${name}.test.ts`));
  return [
    `Try it:  tenon${isNamed ? ` --plugins ${place}` : ""} call ${name} '{"path": "README.md", "text": "the"}'`,
    `Test it: bun test ${test}`,
    `     or: deno test --allow-read=${place} ${test}`,
  ];
}

/** What the names of `tenon check` stand for: absolute and real. Of a folder the plugin files; one without any stays, to be told so. */
export async function filesToCheck(names: readonly string[]): Promise<string[]> {
  const named = await Promise.all(names.map(async (name) => {
    const path = realOf(resolve(name));
    if (!mayRead(path)) return [path];
    const { files, setAside } = await findPlugins(path);
    const found = [...files, ...setAside.map(({ file }) => file)];
    return found.length > 0 ? found.map(realOf) : [path];
  }));
  return named.flat();
}

/** `files` are absolute and real. Resolves with the exit code: 1 when one is bad. */
export async function runCheck(
  files: readonly string[],
  premises: Premises,
  fence: FenceStatus,
  stdout: Screen,
): Promise<number> {
  const hosts = createHosts(connectFor(premises, fence), new Map());
  const cache = await openDefinitionCache(premises.kept);
  let good = true;
  try {
    for (const file of files) {
      const checked = await checkFile(file, hosts);
      stdout.write(`${checkLines(checked).map(visible).join("\n")}\n`);
      good &&= checked.good;
      // That it failed before may be kept, and then no start would try it again.
      if (checked.loads !== undefined) cache.forget(checked.loads);
    }
    await cache.save();
  } finally {
    hosts.close();
  }
  return good ? EXIT.done : EXIT.stopped;
}
