/** What each process may touch, made from the premises: the rules of the fence for core and for every host. */

import { existsSync, statSync } from "node:fs";
import process from "node:process";
import type { Canary } from "./fence_check.ts";
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

/** Files that most machines have, tried first: a tool's harm is to read a file. */
const FILES = ["hostname", "fstab", "machine-id", "issue", "login.defs", "shells", "profile", "motd"];
/** Folders that every machine has. The profile for macOS lets `/` itself be listed. */
const FOLDERS = process.platform === "darwin" ? ["/var", "/Users"] : ["/var", "/"];
/** A device that every user may write and that the rules let be read only. Opening it changes nothing. */
const DEVICE = "/dev/urandom";

/** The lists of paths alone. */
export type Granted = Pick<FenceRules, "readExec" | "read" | "devices" | "write" | "writeOnly">;

/**
 * What the self-test tries: what no rule lets through and every user may read. Where nothing is left to be read (`--allow-read=/`),
 * what may not be written; nothing where all of it was granted.
 */
export function findCanary({ readExec, read, devices, write, writeOnly }: Granted): Canary | undefined {
  const isOutside = (path: string, granted: string[]) => !granted.some((folder) => isInside(folder, path));
  for (const name of [...FILES.map((file) => join("/etc", file)), ...FOLDERS]) {
    const path = realOf(name);
    if (isForAll(path, "read") && isOutside(path, [...readExec, ...read, ...write])) return { path, access: "read" };
  }
  if (!isForAll(DEVICE, "write") || !isOutside(DEVICE, [...devices, ...write, ...writeOnly])) return undefined;
  return { path: DEVICE, access: "write" };
}

/** By the mode's bits for others: chmod(2). */
function isForAll(path: string, access: Canary["access"]): boolean {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  return (mode & (access === "read" ? 0o4 : 0o2)) !== 0;
}
