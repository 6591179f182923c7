/** System calls for probes and their victim, independent of the product's table: Linux under Bun only. */

import { dlopen, ptr, read } from "bun:ffi";

/** `[x86-64, aarch64]` */
const NUMBERS = {
  add_key: [248, 217],
  chroot: [161, 51],
  clone3: [435, 435],
  connect: [42, 203],
  bind: [49, 200],
  fcntl: [72, 25],
  ioctl: [16, 29],
  ioprio_set: [251, 30],
  io_uring_setup: [425, 425],
  kcmp: [312, 272],
  listen: [50, 201],
  mknodat: [259, 33],
  mq_open: [240, 180],
  mq_unlink: [241, 181],
  open_tree: [428, 428],
  open_tree_attr: [467, 467],
  openat: [257, 56],
  pidfd_getfd: [438, 438],
  pidfd_open: [434, 434],
  prlimit64: [302, 261],
  process_vm_readv: [310, 270],
  ptrace: [101, 117],
  sched_setaffinity: [203, 122],
  sendto: [44, 206],
  setpriority: [141, 140],
  shmat: [30, 196],
  shmctl: [31, 195],
  shmget: [29, 194],
  socket: [41, 198],
  socketpair: [53, 199],
  truncate: [76, 45],
} as const;

const { symbols } = dlopen("libc.so.6", {
  syscall: { args: ["i64", "i64", "i64", "i64", "i64", "i64", "i64"], returns: "i64" },
  __errno_location: { args: [], returns: "ptr" },
});

/** The result, or the error thrown as `{ code: "errno 13" }`; bytes are passed by their address, text with a NUL behind it. */
export function raw(name: keyof typeof NUMBERS, ...args: (number | Uint8Array | string)[]): number {
  const kept = args.map((arg) => typeof arg === "string" ? new TextEncoder().encode(`${arg}\0`) : arg);
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = kept.map((arg) => typeof arg === "number" ? arg : ptr(arg));
  const result = Number(symbols.syscall(NUMBERS[name][process.arch === "x64" ? 0 : 1], a, b, c, d, e, f));
  if (result !== -1) return result;
  const errno = read.i32(symbols.__errno_location()!);
  throw Object.assign(new Error(`${name}: errno ${errno}`), { code: NAMES[errno] ?? `errno ${errno}` });
}

const NAMES: Record<number, string> = {
  1: "EPERM",
  13: "EACCES",
  14: "EFAULT",
  18: "EXDEV",
  22: "EINVAL",
  38: "ENOSYS",
};

export const AT_FDCWD = -100;

/** `struct sockaddr_un`; a name that begins with NUL is an abstract one. */
export function unixAddress(name: string): Uint8Array {
  return Uint8Array.of(1, 0, ...new TextEncoder().encode(name), ...(name.startsWith("\0") ? [] : [0]));
}

/** `struct sockaddr_in` of 127.0.0.1. */
export function loopbackAddress(port: number): Uint8Array {
  return Uint8Array.of(2, 0, port >> 8, port & 255, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0);
}
