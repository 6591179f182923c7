/** What each level of the fence leaves open, a line each, in words for the user. */

import { isRoot } from "../path.ts";
import type { Policy } from "../permissions/policy.ts";

/** Neither programs nor the runtime of a host start without it. */
function openOfSystem(places: string): string {
  return `files of the system (${places}): commands and the code of plugins can read them; only the file tools refuse them`;
}

/** Landlock and seccomp; newer kernels hold more. */
export function openOnLinux(abi: number): string[] {
  return [
    openOfSystem("/usr, parts of /etc, /proc"),
    "files outside: whether they exist, and their times, modes, owners and attributes; tools that write can also change these",
    "folders outside: the names of files that change in them can be watched",
    "other processes: their names and command lines can be read",
    "hard links in the workspace to files outside: they are files of the workspace",
    ...(abi < 6 ? [`other processes of yours: signals reach them (Landlock ABI ${abi}; held from ABI 6 on)`] : []),
  ];
}

/** What the user's own flags leave nothing outside of. */
export function openByGrant(policy: Pick<Policy, "read" | "write">): string[] {
  const isAll = (kind: "read" | "write") => policy[kind].state !== "deny" && policy[kind].scope.some(isRoot);
  const untried = "so no file is outside, and the self-test at start tried none";
  return [
    ...(isAll("read") ? [`reading: / was granted, ${untried}`] : []),
    ...(isAll("write") ? [`changing files: / was granted, ${untried}`] : []),
  ];
}

/** Seatbelt. */
export function openOnMac(): string[] {
  return [
    "this profile has not yet been run on a Mac by its authors",
    "tenon's own process: only those of its tools are behind the fence, since Seatbelt does not nest",
    openOfSystem("/usr, /System, parts of /Library"),
    "files outside: whether they exist, and their times, modes and owners",
    "hard links in the workspace to files outside: they are files of the workspace",
  ];
}

/** Deno's permissions. */
export function openUnderDeno(): string[] {
  return [
    "links in the workspace that lead outside: Deno follows them, and only tenon's own check of paths stops it",
    "files that a tool may write and not read: tenon's own check keeps it from reading them, but its code can go around that",
    "programs that a tool starts: they reach every file and host that you reach",
    "tenon's own process: a plugin that is made for it can end it, freeze it, or take all its memory",
    "processes that a command starts with an empty environment, or that write over theirs: they can go on after it",
  ];
}

/** No layer below tenon's own check, and why. */
export function openWithGuardOnly(reason: string): string[] {
  return [
    `no fence by the kernel: ${reason}`,
    "only the paths that tools open through tenon are checked: plugins and commands reach every file and host that you reach",
  ];
}
