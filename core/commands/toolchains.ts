/** Which folders of the user's home hold programs that a command may start, and the variables that lead there. */

import { isInside, join } from "../path.ts";

export interface Toolchains {
  /** Folders and files to read and start programs from: absolute and real, each once. */
  readExec: string[];
  env: { [name: string]: string };
}

export interface ToolchainOptions {
  env(name: string): string | undefined;
  /** Absolute and real. */
  home: string | undefined;
  /** The real path of what exists. */
  real(path: string): string | undefined;
  /** Commands have a network: what they fetch goes to their own home, since the user's cannot be written. */
  network: boolean;
}

interface Toolchain {
  /** Says where it is when not below the home folder, and is passed on. */
  variable?: string;
  /** Below the home folder. */
  folder: string;
  /** What is given of it: never all, since logins may lie beside (`credentials.toml` of cargo and of uv). */
  parts: string[];
  /** Passed on only while none of these is there: they can hold a login, and without them the program does not start. */
  unless?: string[];
  /** It is also where the program puts what it fetches. */
  cache?: true;
}

const TOOLCHAINS: Toolchain[] = [
  { variable: "NVM_DIR", folder: ".nvm", parts: ["versions", "alias", "nvm.sh"] },
  { variable: "VOLTA_HOME", folder: ".volta", parts: ["bin", "tools"] },
  {
    variable: "CARGO_HOME",
    folder: ".cargo",
    parts: ["bin", "registry", "git"],
    unless: ["config.toml", "config"],
    cache: true,
  },
  { variable: "RUSTUP_HOME", folder: ".rustup", parts: ["toolchains", "settings.toml"] },
  {
    variable: "PYENV_ROOT",
    folder: ".pyenv",
    parts: ["bin", "shims", "libexec", "plugins", "pyenv.d", "versions", "version"],
  },
  { variable: "UV_PYTHON_INSTALL_DIR", folder: ".local/share/uv/python", parts: ["."] },
  { variable: "UV_TOOL_DIR", folder: ".local/share/uv/tools", parts: ["."] },
  // Their variables begin with BUN_ and DENO_, of which none is ever passed on.
  { folder: ".bun", parts: ["bin", "install/global"] },
  { folder: ".deno", parts: ["bin"] },
  { variable: "GOPATH", folder: "go", parts: ["bin", "pkg"], cache: true },
  { folder: "sdk", parts: ["."] },
];

/** A folder that is, or is above, one of these is no folder of programs, also when the path names it. */
const PRIVATE = [
  ".aws",
  ".cargo/credentials.toml",
  ".config",
  ".docker",
  ".gnupg",
  ".kube",
  ".local/share",
  ".local/state",
  ".netrc",
  ".ssh",
];

/** Looks at nothing but what it is handed. */
export function findToolchains({ env, home, real, network }: ToolchainOptions): Toolchains {
  const found: Toolchains = { readExec: [], env: {} };
  if (home === undefined) return found;
  const add = (path: string | undefined): boolean => {
    if (path === undefined || PRIVATE.some((name) => isInside(path, join(home, name)))) return false;
    if (!found.readExec.includes(path)) found.readExec.push(path);
    return true;
  };

  for (const folder of (env("PATH") ?? "").split(":")) {
    const path = folder.startsWith("/") ? real(folder) : undefined;
    if (path !== undefined && isInside(home, path)) add(path);
  }
  for (const { variable, folder, parts, unless = [], cache = false } of TOOLCHAINS) {
    const named = variable === undefined ? undefined : env(variable);
    const base = named?.startsWith("/") ? named : join(home, folder);
    const given = parts.map((part) => add(real(join(base, part))));
    const isBlocked = unless.some((name) => real(join(base, name)) !== undefined) || cache && network;
    if (variable !== undefined && given.includes(true) && !isBlocked) found.env[variable] = base;
  }
  return found;
}
