import { afterAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { shellPlace } from "../core/commands/shell_place.ts";
import type { Canary } from "../core/fence/fence_check.ts";
import { coreRules, findCanary, hostRules } from "../core/fence/fence_plan.ts";
import type { FenceRules } from "../core/fence/fence_rules.ts";
import type { HostOrder } from "../core/hosts/hosts.ts";
import { isInside } from "../core/path.ts";
import { decide, grantFor } from "../core/permissions/permissions.ts";
import { makePolicy } from "../core/permissions/policy.ts";
import { placeAt } from "../core/place.ts";
import type { Premises } from "../core/premises.ts";
import type { Permissions } from "../core/tool.ts";
import { flagsOf } from "./support/flags.ts";

/** A workspace with folders in it, another folder, and the user's own: all of it is there, since rules name only what is. */
const top = realpathSync(mkdtempSync(join(tmpdir(), "tenon-plan-")));
const [root, other, home] = ["ws", "other", "home"].map((name) => join(top, name)) as [string, string, string];
const folders = { home, config: join(home, ".config", "tenon"), state: join(home, ".local", "state", "tenon") };
const pluginFolder = join(folders.config, "plugins");
const scratch = { folder: join(folders.state, "run", "1-0"), home: "", tmp: "" };
for (const folder of [join(root, "a", "b"), join(root, "ab"), other, pluginFolder, scratch.folder]) {
  mkdirSync(folder, { recursive: true });
}
writeFileSync(join(pluginFolder, "own.ts"), "");
afterAll(() => rmSync(top, { recursive: true }));

/** What belongs to the system is left out, so that the rest can be read. */
const SYSTEM = { readExec: ["/usr"], read: ["/etc/hosts"], devices: ["/dev/null"] };
const SETS: Permissions[] = [{}, { read: true }, { read: true, write: true }, { read: true, write: true, run: true }];

function premisesFor(flags: readonly string[], canAsk = false): Premises {
  const parsed = flagsOf(flags).flags;
  const policy = makePolicy({ ...parsed, prompt: parsed.prompt && canAsk }, placeAt(root));
  return {
    root,
    folders,
    kept: folders.state,
    pluginFolders: [{ path: pluginFolder } as Premises["pluginFolders"][number]],
    policy,
    missing: [],
  };
}

function rulesOfHost(
  premises: Premises,
  needs: Permissions,
  plugins: HostOrder["plugins"] = { builtin: [] },
): FenceRules {
  const commands = needs.run ? { scratch, place: shellPlace(premises) } : undefined;
  return hostRules({ plugins, needs, grant: grantFor(premises.policy, needs) }, SYSTEM, commands);
}

/** Paths below the folders of this test alone. */
function ours(paths: readonly string[]): string[] {
  return paths.filter((path) => isInside(top, path)).map((path) => path.slice(top.length + 1)).sort();
}

const coreOf = (premises: Premises) => coreRules(premises, SYSTEM, []);
const holds = (folders: readonly string[], path: string) => folders.some((folder) => isInside(folder, path));

describe("a host", () => {
  type Row = [flags: string[], needs: Permissions, read: string[], write: string[]];
  const all: Permissions = { read: true, write: true, run: true };
  const STATE = "home/.local/state/tenon/run/1-0";
  const rows: Row[] = [
    [[], {}, [], []],
    [[], { read: true }, ["ws"], []],
    // What is asked for is not granted where nobody can be asked.
    [[], { read: true, write: true }, ["ws"], []],
    [["--allow-write"], { read: true }, ["ws"], []],
    [["--allow-write"], { read: true, write: true }, ["ws"], ["ws"]],
    [["--allow-write"], { write: true }, [], ["ws"]],
    [["--allow-write=a"], { read: true, write: true }, ["ws"], ["ws/a"]],
    [[`--allow-write=.,${"../other"}`], { read: true, write: true }, ["ws"], ["other", "ws"]],
    [["--allow-write=missing"], { read: true, write: true }, ["ws"], []],
    [["--allow-read=a"], { read: true }, ["ws/a"], []],
    [["--allow-read=.,../other"], { read: true }, ["other", "ws"], []],
    [["--deny-write"], { read: true, write: true }, ["ws"], []],
    [["--deny-read"], { read: true }, [], []],
    [["--allow-run"], { read: true }, ["ws"], []],
    [["--allow-run", "--allow-write"], all, ["ws"], [STATE, "ws"]],
  ];
  test.each(rows)("with %j that needs %j reads %j and writes %j", (flags, needs, read, write) => {
    const rules = rulesOfHost(premisesFor(flags), needs);
    expect(ours(rules.read)).toEqual(read);
    expect(ours([...rules.write, ...rules.writeOnly]).sort()).toEqual(write);
    expect(rules.exec).toBe(needs.run === true);
    expect(rules.sockets).toBe("none");
  });

  test("gets what is asked for where somebody can be asked", () => {
    expect(ours(rulesOfHost(premisesFor([], true), { read: true, write: true }).write)).toEqual(["ws"]);
  });

  test("that needs no write gets none of a grant that has it: a preview only reads", () => {
    const grant = grantFor(premisesFor(["--allow-write"]).policy, { read: true, write: true });
    expect(ours(grant.write)).toEqual(["ws"]);
    expect(ours(hostRules({ plugins: { builtin: [] }, needs: { read: true }, grant }, SYSTEM, undefined).write))
      .toEqual([]);
  });

  test("of a plugin reads the folder of its file, also without a need", () => {
    const rules = rulesOfHost(premisesFor([]), {}, { file: join(pluginFolder, "own.ts") });
    expect(ours(rules.read)).toEqual(["home/.config/tenon/plugins"]);
    expect(ours(rules.write)).toEqual([]);
  });

  test("starts programs of the workspace only where it may start any", () => {
    const premises = premisesFor(["--allow-run", "--allow-write"]);
    expect(ours(rulesOfHost(premises, { read: true, write: true }).readExec)).toEqual([]);
    expect(ours(rulesOfHost(premises, { read: true, write: true, run: true }).readExec)).toEqual(["ws"]);
  });

  test("has a network only for the commands of built-in tools, and only with --allow-net=shell", () => {
    const needs = { read: true, run: true };
    const premises = premisesFor(["--allow-run", "--allow-net=shell"]);
    expect(rulesOfHost(premises, needs).sockets).toBe("inet");
    expect(rulesOfHost(premises, needs, { file: join(pluginFolder, "own.ts") }).sockets).toBe("none");
    expect(rulesOfHost(premises, { read: true }).sockets).toBe("none");
    expect(rulesOfHost(premisesFor(["--allow-run"]), needs).sockets).toBe("none");
  });
});

describe("core", () => {
  const STATE = "home/.local/state/tenon";
  const rows: [flags: string[], write: string[]][] = [
    [[], [STATE, "ws"]],
    [["--deny-write"], [STATE]],
    [["--deny-run"], [STATE, "ws"]],
    [["--deny-write", "--deny-run"], [STATE]],
    [["--allow-write=a"], [STATE, "ws/a"]],
    [["--allow-write=../other"], [STATE, "other"]],
    [["--allow-write=missing"], [STATE]],
  ];
  test.each(rows)("with %j writes %j at most", (flags, write) => {
    expect(ours(coreOf(premisesFor(flags)).write)).toEqual(write);
  });

  test("reads the settings, the plugins, and what it is told to, and has sockets", () => {
    const told = join(other, "system.txt");
    const rules = coreRules(premisesFor(["--deny-run"]), SYSTEM, [told]);
    expect(ours(rules.read)).toEqual(["home/.config/tenon", "home/.config/tenon/plugins", "other/system.txt", "ws"]);
    expect(rules.sockets).toBe("inet");
  });

  test("does without a home", () => {
    const none = { home: undefined, config: undefined, state: undefined };
    expect(ours(coreRules({ ...premisesFor([]), folders: none, pluginFolders: [] }, SYSTEM, []).write)).toEqual(["ws"]);
  });
});

/** Flags whose folders are there or not, inside and outside of the workspace. */
const PATHS = [".", "a", "a/b", "ab", "../other", other, "missing"];
const flag = (name: string, values: readonly string[]) =>
  fc.option(fc.uniqueArray(fc.constantFrom(...values), { maxLength: 3 })).map((list) =>
    list === null ? [] : [list.length === 0 ? `--${name}` : `--${name}=${list.join(",")}`]
  );
const anyFlags = fc.tuple(
  flag("allow-read", PATHS),
  flag("allow-write", PATHS),
  flag("deny-read", PATHS),
  flag("deny-write", PATHS),
  flag("allow-run", ["git"]),
  fc.constantFrom([], ["--deny-run"]),
  fc.constantFrom([], ["--allow-net=shell"]),
).map((flags) => flags.flat());

describe("with any flags", () => {
  function everyHost(check: (host: FenceRules, core: FenceRules, needs: Permissions) => void): void {
    fc.assert(
      fc.property(anyFlags, fc.boolean(), fc.constantFrom(...SETS), fc.boolean(), (flags, canAsk, needs, isOwn) => {
        const premises = premisesFor(flags, canAsk);
        // What is denied starts no host.
        fc.pre(decide(premises.policy, needs).state !== "deny");
        const plugins = isOwn ? { builtin: [] } : { file: join(pluginFolder, "own.ts") };
        check(rulesOfHost(premises, needs, plugins), coreOf(premises), needs);
      }),
      { numRuns: 300 },
    );
  }

  test("core has all that a host has: an inner layer can only narrow", () => {
    everyHost((host, core) => {
      const coreReads = [...core.readExec, ...core.read, ...core.write];
      for (const path of [...host.readExec, ...host.read, ...host.write]) expect(holds(coreReads, path)).toBeTrue();
      for (const path of host.readExec) expect(holds([...core.readExec, ...core.write], path)).toBeTrue();
      for (const path of host.write) expect(holds(core.write, path)).toBeTrue();
      for (const path of host.devices) expect(core.devices).toContain(path);
      expect(core.exec).toBeTrue();
      expect(core.sockets).toBe("inet");
    });
  });

  test("a host that only reads writes nothing and starts nothing", () => {
    everyHost((host, _, needs) => {
      if (needs.write || needs.run) return;
      expect(host.write).toEqual([]);
      expect(host.exec).toBeFalse();
    });
  });

  test("the state folder is in no host but for its own scratch, and the settings can be written nowhere", () => {
    everyHost((host, core) => {
      for (const path of [...host.readExec, ...host.read, ...host.write]) {
        expect(isInside(path, folders.state)).toBeFalse();
        if (isInside(folders.state, path)) expect(path).toBe(scratch.folder);
      }
      expect(holds([...host.write, ...core.write], folders.config)).toBeFalse();
    });
  });

  test("a host without write, also one that runs commands, writes nothing but its scratch", () => {
    everyHost((host, _, needs) => {
      if (!needs.write) expect(host.write.filter((path) => path !== scratch.folder)).toEqual([]);
    });
  });
});

describe("findCanary", () => {
  const core = coreOf(premisesFor([]));
  const also = (more: Partial<FenceRules>) => findCanary({ ...core, ...more });

  test("finds a file that is there and that no rule lets through", () => {
    const canary = findCanary(core);
    expect(canary).toEqual({ path: expect.stringMatching(/^\/etc\//), access: "read" });
    expect(existsSync(canary!.path)).toBe(true);
    expect(also({ read: [canary!.path] })).not.toEqual(canary);
  });

  const granted: [what: string, more: Partial<FenceRules>, canary: Canary | undefined][] = [
    ["/etc", { read: ["/etc"] }, { path: realpathSync("/var"), access: "read" }],
    ["/etc, to be written", { write: ["/etc"] }, { path: realpathSync("/var"), access: "read" }],
    ["all to be read", { read: ["/"] }, { path: "/dev/urandom", access: "write" }],
    ["all to be read and /dev to be written", { read: ["/"], write: ["/dev"] }, undefined],
    ["everything", { write: ["/"] }, undefined],
  ];
  test.each(granted)("where %s is let through, takes what is left", (_what, more, canary) => {
    expect(also(more)).toEqual(canary);
  });

  test("takes no file that others may not read: that it is refused would prove nothing", () => {
    for (const { path } of [findCanary(core)!, also({ read: ["/etc"] })!]) expect(statSync(path).mode & 0o4).toBe(0o4);
  });
});
