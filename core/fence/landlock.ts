/** The files half of the kernel's fence on Linux: Landlock, after Documentation/userspace-api/landlock.rst. */

import { closeSync, fstatSync, openSync } from "node:fs";
import process from "node:process";
import { demand, type Kernel } from "./kernel.ts";
import type { FenceRules } from "./fence_rules.ts";

/**
 * Rights on files with the ABI that brought each, from include/uapi/linux/landlock.h. Every right that the kernel knows is
 * handled, so that what no rule grants is refused.
 */
const RIGHTS = {
  EXECUTE: { bit: 0, abi: 1 },
  WRITE_FILE: { bit: 1, abi: 1 },
  READ_FILE: { bit: 2, abi: 1 },
  READ_DIR: { bit: 3, abi: 1 },
  REMOVE_DIR: { bit: 4, abi: 1 },
  REMOVE_FILE: { bit: 5, abi: 1 },
  MAKE_CHAR: { bit: 6, abi: 1 },
  MAKE_DIR: { bit: 7, abi: 1 },
  MAKE_REG: { bit: 8, abi: 1 },
  MAKE_SOCK: { bit: 9, abi: 1 },
  MAKE_FIFO: { bit: 10, abi: 1 },
  MAKE_BLOCK: { bit: 11, abi: 1 },
  MAKE_SYM: { bit: 12, abi: 1 },
  REFER: { bit: 13, abi: 2 },
  TRUNCATE: { bit: 14, abi: 3 },
  IOCTL_DEV: { bit: 15, abi: 5 },
  RESOLVE_UNIX: { bit: 16, abi: 9 },
} as const;

/** A right on files, by its name in the header without `LANDLOCK_ACCESS_FS_`. */
export type Right = keyof typeof RIGHTS;

const ALL = Object.keys(RIGHTS) as Right[];
/** What a rule on something other than a folder may carry; the kernel answers EINVAL to the rest. */
const ON_FILES: Right[] = ["EXECUTE", "WRITE_FILE", "READ_FILE", "TRUNCATE", "IOCTL_DEV"];
/** Device nodes would be raw access to disks and terminals; RESOLVE_UNIX would be a way to servers outside. */
const NEVER_IN_FOLDERS: Right[] = ["MAKE_CHAR", "MAKE_BLOCK", "IOCTL_DEV", "RESOLVE_UNIX"];

const IN_FOLDERS = ALL.filter((right) => !NEVER_IN_FOLDERS.includes(right));

const READ: Right[] = ["READ_FILE", "READ_DIR"];
const GRANTS = {
  readExec: ["EXECUTE", ...READ],
  read: READ,
  devices: ["READ_FILE", "WRITE_FILE", "IOCTL_DEV"],
  write: IN_FOLDERS,
  writeOnly: IN_FOLDERS.filter((right) => right !== "READ_FILE" && right !== "EXECUTE"),
} satisfies Record<string, Right[]>;

const NET_TCP = 0b11; // BIND_TCP, CONNECT_TCP: ABI 4
const SCOPE_ALL = 0b11; // ABSTRACT_UNIX_SOCKET, SIGNAL: ABI 6

const CREATE_RULESET_VERSION = 1;
const RULE_PATH_BENEATH = 1;
const O_PATH = 0o10000000;
const O_CLOEXEC = 0o2000000;

/** What may stand in the way of naming a path that is only to be read. Such a grant is left out: that only narrows. */
const ABSENT = new Set(["ENOENT", "ENOTDIR", "EACCES", "ELOOP"]);

/** The bits of these rights that an ABI knows. */
export function rightBits(rights: readonly Right[], abi: number): number {
  return rights.reduce((bits, right) => RIGHTS[right].abi <= abi ? bits | 1 << RIGHTS[right].bit : bits, 0);
}

/** The Landlock ABI of this kernel, or the negative error number: -38 not built in, -95 switched off at boot. */
export function landlockAbi(kernel: Kernel): number {
  return kernel.call("landlock_create_ruleset", null, 0, CREATE_RULESET_VERSION);
}

/**
 * `struct landlock_ruleset_attr`: what is refused unless a rule grants it. Its size grows with the ABI, and an older kernel
 * refuses a longer one.
 */
export function rulesetAttribute(abi: number, sockets: FenceRules["sockets"]): Uint8Array {
  const fields = [rightBits(ALL, abi)];
  if (abi >= 4) fields.push(sockets === "none" ? NET_TCP : 0);
  if (abi >= 6) fields.push(SCOPE_ALL);
  return new Uint8Array(BigUint64Array.from(fields, BigInt).buffer);
}

/** The bits that a path gets, by the list it is in. */
export function grantedBits(list: keyof typeof GRANTS, isFolder: boolean, abi: number): number {
  const bits = rightBits(GRANTS[list], abi);
  return isFolder ? bits : bits & rightBits(ON_FILES, abi);
}

/**
 * Confines the calling thread, and what it becomes or starts, to the rules; at most 16 of these layers are possible, and each can
 * only narrow. The caller has set no_new_privs. A rule follows the inode that the path names now. Throws when a
 * writable folder is missing or the kernel refuses.
 */
export function restrictFiles(kernel: Kernel, abi: number, rules: FenceRules): void {
  const attribute = rulesetAttribute(abi, rules.sockets);
  const ruleset = demand(
    kernel.call("landlock_create_ruleset", attribute, attribute.length, 0),
    "landlock_create_ruleset",
  );
  try {
    for (const list of ["readExec", "read", "devices", "write", "writeOnly"] as const) {
      for (const path of rules[list]) addRule(kernel, abi, ruleset, list, path);
    }
    demand(kernel.call("landlock_restrict_self", ruleset, 0), "landlock_restrict_self");
  } finally {
    closeSync(ruleset);
  }
}

function addRule(kernel: Kernel, abi: number, ruleset: number, list: keyof typeof GRANTS, path: string): void {
  let handle: number;
  try {
    handle = openSync(path, O_PATH | O_CLOEXEC);
  } catch (error) {
    const code = (error as { code?: string }).code ?? "unknown error";
    if (list !== "write" && list !== "writeOnly" && ABSENT.has(code)) return;
    const asRoot = code === "EACCES" && process.getuid?.() === 0 ? ": behind the fence root is an ordinary user" : "";
    throw new Error(`cannot open "${path}" for the fence (${code}${asRoot})`);
  }
  try {
    // struct landlock_path_beneath_attr is packed: the rights in 8 bytes, then the handle in 4.
    const attribute = new DataView(new ArrayBuffer(12));
    attribute.setBigUint64(0, BigInt(grantedBits(list, fstatSync(handle).isDirectory(), abi)), true);
    attribute.setInt32(8, handle, true);
    demand(
      kernel.call("landlock_add_rule", ruleset, RULE_PATH_BENEATH, new Uint8Array(attribute.buffer), 0),
      `landlock_add_rule for "${path}"`,
    );
  } finally {
    closeSync(handle);
  }
}
