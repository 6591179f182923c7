/** What a process may try against the world outside its fence: each probe does it, or throws with the kernel's code. */

import { ptr } from "bun:ffi";
import * as fs from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { Victim } from "./fence_victim.ts";
import { AT_FDCWD, loopbackAddress, raw, unixAddress } from "./raw_calls.ts";

/** Where probes work. `outside` and `workspace` are folders side by side, with `<probe>` files as `prepare` makes them. */
export interface Place {
  workspace: string;
  outside: string;
  victim: Victim;
}

export type Probe = (place: Place) => unknown;

const AF_UNIX = 1;
const AF_INET = 2;
const AF_NETLINK = 16;
const SOCK_STREAM = 1;
const SOCK_DGRAM = 2;
const SOCK_RAW = 3;
const IPPROTO_ICMP = 1;
const IPPROTO_MPTCP = 262;
const MSG_FASTOPEN = 0x20000000;
const MSG_DONTWAIT = 0x40;
const PTRACE_SEIZE = 0x4206;
const TIOCSTI = 0x5412;
const CHAR_DEVICE = 0o020600;
const DEV_NULL = 0x103;

/** Makes what the probes of one run aim at, all of it open to every user: only the fence may be the reason of a refusal. */
export function prepare({ workspace, outside }: Omit<Place, "victim">): void {
  for (const folder of [workspace, outside]) {
    fs.rmSync(folder, { recursive: true, force: true });
    fs.mkdirSync(folder, { recursive: true });
  }
  for (const name of ["read", "write", "cut", "open and cut", "remove", "move in", "link in", "mode"]) {
    fs.writeFileSync(join(outside, name), "outside");
  }
  for (const name of ["move out", "link out", "plain"]) fs.writeFileSync(join(workspace, name), "inside");
  fs.mkdirSync(join(workspace, "folder"));
  fs.symlinkSync(join(outside, "read"), join(workspace, "link that leads out"));
  const all = [outside, workspace].flatMap((
    folder,
  ) => [folder, ...fs.readdirSync(folder).map((name) => join(folder, name))]);
  for (const path of all) fs.chmodSync(path, fs.statSync(path).isDirectory() ? 0o777 : 0o666);
}

/** Refused behind every fence. */
export const FILES: Record<string, Probe> = {
  "read a file outside": ({ outside }) => fs.readFileSync(join(outside, "read")),
  "read a file outside, 40 times at once": async ({ outside }) => {
    const reads = await Promise.allSettled(Array.from({ length: 40 }, () => open(join(outside, "read"), "r")));
    const refused = reads.filter((read) => read.status === "rejected");
    if (refused.length === reads.length) throw refused[0]!.reason;
  },
  "read through a link that leads out": ({ workspace }) => fs.readFileSync(join(workspace, "link that leads out")),
  "read over ..": ({ workspace }) => fs.readFileSync(`${workspace}/folder/../../outside/read`),
  "list a folder outside": ({ outside }) => fs.readdirSync(outside),
  "write a file outside": ({ outside }) => fs.appendFileSync(join(outside, "write"), "x"),
  "create a file outside": ({ outside }) => fs.writeFileSync(join(outside, "created"), "x"),
  "cut a file outside by its path": ({ outside }) => raw("truncate", join(outside, "cut"), 0),
  "cut a file outside by opening it": ({ outside }) => fs.closeSync(fs.openSync(join(outside, "open and cut"), "w")),
  "remove a file outside": ({ outside }) => fs.unlinkSync(join(outside, "remove")),
  "make a folder outside": ({ outside }) => fs.mkdirSync(join(outside, "folder")),
  "make a link outside": ({ outside }) => fs.symlinkSync("read", join(outside, "link")),
  "move a file in": ({ outside, workspace }) => fs.renameSync(join(outside, "move in"), join(workspace, "moved in")),
  "move a file out": ({ outside, workspace }) => fs.renameSync(join(workspace, "move out"), join(outside, "moved out")),
  "link a file in": ({ outside, workspace }) => fs.linkSync(join(outside, "link in"), join(workspace, "linked in")),
  "link a file out": ({ outside, workspace }) => fs.linkSync(join(workspace, "link out"), join(outside, "linked out")),
  "open a setting of the kernel to write it": () => fs.closeSync(fs.openSync("/proc/self/comm", "r+")),
  "list the shared /dev/shm": () => fs.readdirSync("/dev/shm"),
};

export const PROCESSES: Record<string, Probe> = {
  "read another process's environment": ({ victim }) => fs.readFileSync(`/proc/${victim.pid}/environ`),
  "limit another process": ({ victim }) => {
    const limits = new Uint8Array(16);
    raw("prlimit64", victim.pid, 7, 0, limits);
    raw("prlimit64", victim.pid, 7, limits, 0);
  },
  "set another process's priority": ({ victim }) => raw("setpriority", 0, victim.pid, 1),
  "set another process's disk priority": ({ victim }) => raw("ioprio_set", 1, victim.pid, 2 << 13 | 4),
  "set another process's processors": ({ victim }) =>
    raw("sched_setaffinity", victim.pid, 8, Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0)),
  "map another process's shared memory": ({ victim }) => raw("shmat", victim.sharedMemory, 0, 0),
  "open another process's message queue": ({ victim }) => raw("mq_open", victim.queue, 0, 0, 0),
  "remove another process's message queue": ({ victim }) => raw("mq_unlink", victim.queue),
};

/** Refused by Landlock's scopes, from ABI 6 on. */
export const SIGNALS: Record<string, Probe> = {
  "send a signal to another process": ({ victim }) => process.kill(victim.pid, "SIGCONT"),
};

/** What the kernel's settings (Yama, namespaces, io_uring) or a missing power may refuse even without a fence. */
export const KERNEL: Record<string, Probe> = {
  "open another process's memory": ({ victim }) => fs.closeSync(fs.openSync(`/proc/${victim.pid}/mem`, "r")),
  "trace another process": ({ victim }) => raw("ptrace", PTRACE_SEIZE, victim.pid, 0, 0),
  "copy another process's memory": ({ victim }) => {
    const mine = new Uint8Array(8);
    raw("process_vm_readv", victim.pid, vector(mine), 1, vector(victim.address, 8), 1, 0);
  },
  "take another process's handle": ({ victim }) => raw("pidfd_getfd", raw("pidfd_open", victim.pid, 0), 0, 0),
  "compare with another process": ({ victim }) => raw("kcmp", process.pid, victim.pid, 1, 0, 0),
  "add a key": () => raw("add_key", "user", "tenon", Uint8Array.of(1), 1, -2),
  "set up io_uring": () => fs.closeSync(raw("io_uring_setup", 4, new Uint8Array(120))),
  "type into the terminal": () => raw("ioctl", 0, TIOCSTI, Uint8Array.of(32)),
  "make a user namespace": () => {
    const { exitCode, stderr } = Bun.spawnSync(["/usr/bin/unshare", "--user", "true"]);
    if (exitCode !== 0) {
      throw Object.assign(new Error(String(stderr)), { code: /not permitted/.test(String(stderr)) ? "EPERM" : "?" });
    }
  },
  "open a tree of mounts": () => fs.closeSync(raw("open_tree", AT_FDCWD, "/proc", 0)),
  "open a tree of mounts with attributes": () => fs.closeSync(raw("open_tree_attr", AT_FDCWD, "/proc", 0, 0, 0)),
  "change the root": () => raw("chroot", "/"),
  "make a device": ({ workspace }) => raw("mknodat", AT_FDCWD, join(workspace, "device"), CHAR_DEVICE, DEV_NULL),
  "open a raw socket": () => fs.closeSync(raw("socket", AF_INET, SOCK_RAW, IPPROTO_ICMP)),
  "open an MPTCP socket": () => fs.closeSync(raw("socket", AF_INET, SOCK_STREAM, IPPROTO_MPTCP)),
  "send with fast open": ({ victim }) =>
    withSocket(AF_INET, SOCK_STREAM, (socket) => {
      const address = loopbackAddress(victim.tcpPort);
      return raw("sendto", socket, Uint8Array.of(1), 1, MSG_FASTOPEN, address, address.length);
    }),
};

/** Refused behind every fence. */
export const OTHER_SOCKETS: Record<string, Probe> = {
  "connect to a unix socket": ({ victim }) => connectUnix(victim.streamSocket),
  "connect to an abstract unix socket": ({ victim }) => connectUnix(victim.abstractSocket),
  "open a netlink socket": () => withSocket(AF_NETLINK, SOCK_RAW, () => 0),
  "send a datagram from one of a pair to a unix socket": ({ victim }) => {
    const pair = new Int32Array(2);
    raw("socketpair", AF_UNIX, SOCK_DGRAM, 0, new Uint8Array(pair.buffer));
    const address = unixAddress(victim.datagramSocket);
    raw("sendto", pair[0]!, Uint8Array.of(1), 1, MSG_DONTWAIT, address, address.length);
  },
};

/** Left to core, refused to a host. */
export const INTERNET: Record<string, Probe> = {
  "connect over TCP": ({ victim }) =>
    withSocket(AF_INET, SOCK_STREAM, (socket) => {
      const address = loopbackAddress(victim.tcpPort);
      return raw("connect", socket, address, address.length);
    }),
  "send over UDP": () =>
    withSocket(AF_INET, SOCK_DGRAM, (socket) => {
      const address = loopbackAddress(9);
      return raw("sendto", socket, Uint8Array.of(1), 1, 0, address, address.length);
    }),
  "fetch over HTTP from a closed port": async () => {
    const error = await fetch("http://127.0.0.1:9").then(() => undefined, (error) => error);
    if (error?.code !== "ConnectionRefused" && error?.code !== "ECONNREFUSED") throw error;
  },
};

/** What stays possible behind every fence. */
export const ALLOWED: Record<string, Probe> = {
  "read and write in the workspace": ({ workspace }) => {
    fs.writeFileSync(join(workspace, "new"), "x");
    fs.renameSync(join(workspace, "new"), join(workspace, "folder", "new"));
    fs.linkSync(join(workspace, "folder", "new"), join(workspace, "linked"));
    fs.writeFileSync(join(workspace, "linked"), "");
    fs.unlinkSync(join(workspace, "linked"));
  },
  "cut a file of the workspace that is open": ({ workspace }) => {
    const file = fs.openSync(join(workspace, "plain"), "r+");
    fs.ftruncateSync(file, 1);
    fs.closeSync(file);
  },
  "write to /dev/null": () => fs.writeFileSync("/dev/null", "x"),
  "read the list of hosts": () => fs.readFileSync("/etc/hosts"),
  "start a shell": () => {
    const { exitCode } = Bun.spawnSync(["/bin/sh", "-c", "exit 7"]);
    if (exitCode !== 7) throw new Error(`exit code ${exitCode}`);
  },
  "make a pair of stream sockets": () => raw("socketpair", AF_UNIX, SOCK_STREAM, 0, new Uint8Array(8)),
  "set its own priority": () => raw("setpriority", 0, 0, 1),
};

function vector(memory: Uint8Array | number, length = 8): Uint8Array {
  const address = typeof memory === "number" ? memory : ptr(memory);
  return new Uint8Array(BigUint64Array.of(BigInt(address), BigInt(length)).buffer);
}

function withSocket(family: number, type: number, use: (socket: number) => number): void {
  const socket = raw("socket", family, type, 0);
  try {
    use(socket);
  } finally {
    fs.closeSync(socket);
  }
}

function connectUnix(name: string): void {
  const address = unixAddress(name);
  withSocket(AF_UNIX, SOCK_STREAM, (socket) => raw("connect", socket, address, address.length));
}
