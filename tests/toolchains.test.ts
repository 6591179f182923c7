import { describe, expect, test } from "bun:test";
import { findToolchains } from "../core/commands/toolchains.ts";

interface Case {
  /** What exists below /home/u, or absolute. */
  there: string[];
  env?: { [name: string]: string };
  links?: { [path: string]: string };
  network?: boolean;
}

function find({ there, env = {}, links = {}, network = false }: Case) {
  const paths = new Set(there.map((path) => path.startsWith("/") ? path : `/home/u/${path}`));
  const real = (path: string) => links[path] ?? (paths.has(path) ? path : undefined);
  return findToolchains({ env: (name) => env[name], home: "/home/u", real, network });
}

/** Names begin at the home folder. */
const CASES: [what: string, given: Case, readExec: string[], env: { [name: string]: string }][] = [
  ["nothing where nothing is", { there: [], env: { PATH: "/usr/bin:/home/u/bin" } }, [], {}],
  [
    "the folders of PATH below the home folder",
    { there: ["bin", ".local/bin", "/usr/bin"], env: { PATH: "/usr/bin:/home/u/bin:/home/u/.local/bin:bin::." } },
    ["bin", ".local/bin"],
    {},
  ],
  [
    "no folder of PATH that holds logins",
    {
      there: ["/home/u", "/home", "/", ".cargo", ".config", ".ssh", ".local", "bin"],
      env: { PATH: "/home/u:/home/u/.cargo:/home/u/.config:/home/u/.ssh:/home/u/.local:/home/u/bin:/home:/" },
    },
    ["bin"],
    {},
  ],
  [
    "no folder of PATH that leads to one with logins",
    { there: [], env: { PATH: "/home/u/bin" }, links: { "/home/u/bin": "/home/u/.ssh" } },
    [],
    {},
  ],
  [
    "of cargo no login",
    { there: [".cargo", ".cargo/bin", ".cargo/registry", ".cargo/credentials.toml"] },
    [".cargo/bin", ".cargo/registry"],
    { CARGO_HOME: "/home/u/.cargo" },
  ],
  [
    "cargo a home of its own where it would stop at a file that it cannot read",
    { there: [".cargo/bin", ".cargo/config.toml"] },
    [".cargo/bin"],
    {},
  ],
  [
    "cargo and go a home of their own where they can fetch",
    { there: [".cargo/bin", "go/bin", ".rustup/toolchains"], network: true },
    [".cargo/bin", ".rustup/toolchains", "go/bin"],
    { RUSTUP_HOME: "/home/u/.rustup" },
  ],
  [
    "a toolchain where its variable says",
    { there: ["/data/rustup/toolchains", ".rustup/toolchains"], env: { RUSTUP_HOME: "/data/rustup" } },
    ["/data/rustup/toolchains"],
    { RUSTUP_HOME: "/data/rustup" },
  ],
  [
    "a variable that is no absolute path no say",
    { there: [".pyenv/shims"], env: { PYENV_ROOT: "../x" } },
    [".pyenv/shims"],
    { PYENV_ROOT: "/home/u/.pyenv" },
  ],
  [
    "nvm, volta, uv, bun, deno and go by their parts",
    {
      there: [
        ".nvm/versions",
        ".volta/tools",
        ".local/share/uv/python",
        ".local/share/uv/credentials",
        ".bun/bin",
        ".deno/bin",
        "go/pkg",
      ],
      env: { BUN_INSTALL: "/x", DENO_INSTALL: "/y" },
    },
    [".nvm/versions", ".volta/tools", ".local/share/uv/python", ".bun/bin", ".deno/bin", "go/pkg"],
    {
      NVM_DIR: "/home/u/.nvm",
      VOLTA_HOME: "/home/u/.volta",
      UV_PYTHON_INSTALL_DIR: "/home/u/.local/share/uv/python",
      GOPATH: "/home/u/go",
    },
  ],
];

describe("findToolchains gives", () => {
  test.each(CASES)("%s", (_what, given, readExec, env) => {
    const absolute = readExec.map((path) => path.startsWith("/") ? path : `/home/u/${path}`);
    expect(find(given)).toEqual({ readExec: absolute, env });
  });

  test("nothing without a home folder", () => {
    const options = { env: () => "/home/u/bin", home: undefined, real: (path: string) => path, network: false };
    expect(findToolchains(options)).toEqual({ readExec: [], env: {} });
  });
});
