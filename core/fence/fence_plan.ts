/** What each process may touch, made from the premises: the rules of the fence for core and for every host. */

import { existsSync } from "node:fs";
import process from "node:process";
import type { FenceRules, SystemRules } from "./fence_rules.ts";
import type { HostOrder } from "../hosts/hosts.ts";
import { dirname, isInside, join } from "../path.ts";
import { realOf } from "../place.ts";
import type { Premises } from "../premises.ts";
import { isExecutable, programFolder, readEnv } from "../runtime.ts";
import type { Scratch } from "../hosts/scratch.ts";
import { gitConfigs, type ShellPlace, shellPlace } from "../commands/shell_place.ts";

/** Where the certificates of a company's proxy may lie. */
const CERTIFICATES = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"];

/**
 * The outer fence: the union of what a host may ever get, since a layer can only narrow, and what core itself needs. That core
 * writes nothing in the workspace is held by its code, not by the kernel.
 */
export function coreRules(premises: Premises, system: SystemRules, further: readonly string[]): FenceRules {
  const { policy, folders, pluginFolders } = premises;
  const certificates = CERTIFICATES.map(readEnv).filter((path) => path !== undefined);
  const runs = policy.run.state !== "deny";
  return {
    readExec: [
      ...system.readExec,
      process.execPath,
      ...(runs ? [...shellPlace(premises).readExec, ...policy.read.scope] : []),
    ],
    read: [
      ...(runs ? gitConfigs(premises) : []),
      ...system.read,
      ...programFiles(),
      ...pluginFolders.map(({ path }) => path),
      ...policy.read.scope,
      ...(folders.config === undefined ? [] : [folders.config]),
      ...[...certificates, ...further].map(realOf),
    ],
    devices: system.devices,
    write: [...policy.write.scope, ...(folders.state === undefined ? [] : [folders.state])].filter(existsSync),
    writeOnly: [],
    sockets: "inet",
    exec: true,
  };
}

/** What a host gets that may start programs. */
export interface ForCommands {
  /** Its private folders. */
  scratch: Scratch | undefined;
  place: ShellPlace;
}

/** A host's fence: exactly what its tools declare and the user granted. */
export function hostRules(order: HostOrder, system: SystemRules, commands: ForCommands | undefined): FenceRules {
  const { plugins, grant, needs } = order;
  const own = "file" in plugins ? [dirname(realOf(plugins.file))] : [];
  const write = needs.write ? grant?.write.filter(existsSync) ?? [] : [];
  const isRead = (path: string) => grant?.read.some((folder) => isInside(folder, path)) ?? false;
  return {
    readExec: [
      ...system.readExec,
      process.execPath,
      ...(commands ? [...commands.place.readExec, ...(grant?.read ?? [])] : []),
    ],
    read: [...system.read, ...programFiles(), ...own, ...(grant?.read ?? [])],
    devices: system.devices,
    write: [...write.filter(isRead), ...(commands?.scratch === undefined ? [] : [commands.scratch.folder])],
    writeOnly: write.filter((path) => !isRead(path)),
    // The network is for the user's and the model's commands, not for what a plugin makes of them.
    sockets: commands && "builtin" in plugins ? commands.place.sockets : "none",
    exec: needs.run === true,
  };
}

/** From source the program reads itself; an executable is one file, which `readExec` names. */
function programFiles(): string[] {
  return isExecutable() ? [] : [realOf(programFolder())];
}

/**
 * A file that no rule lets through and that every user may read: what the self-test tries. Without one the fence could not be
 * shown to hold.
 */
export function findCanary(rules: FenceRules): string | undefined {
  const granted = [...rules.readExec, ...rules.read, ...rules.write, ...rules.writeOnly];
  const known = ["hostname", "fstab", "machine-id", "issue", "login.defs", "shells", "profile", "motd"];
  return known.map((name) => realOf(join("/etc", name)))
    .find((path) => existsSync(path) && !granted.some((folder) => isInside(folder, path)));
}
