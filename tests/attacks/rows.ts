/** All attacks that have a row. */

import type { Attack } from "./attack.ts";
import { COMMANDS } from "./commands.ts";
import { FOLDERS } from "./folders.ts";
import { PATHS } from "./paths.ts";
import { PLUGINS } from "./plugins.ts";

export const ATTACKS: readonly Attack[] = [...PATHS, ...COMMANDS, ...PLUGINS, ...FOLDERS];
