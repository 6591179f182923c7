/** The one door to raw system calls under Bun on Linux: libc's `syscall`, through `bun:ffi`. */

import process from "node:process";
import { type Arch, isKnownArch, type Syscall, syscallNumber } from "./syscalls.ts";

/** What a system call takes: numbers as they are, bytes by their address (kept alive by the caller), `null` as 0. */
export type Argument = number | Uint8Array | null;

/** Raw system calls of this process; each acts on the calling thread, as the kernel defines it. */
export interface Kernel {
  arch: Arch;
  /** The kernel's answer as it is: a result from 0 on, or the negative error number. Never throws. */
  call(name: Syscall, ...args: Argument[]): number;
  /** Where these bytes lie, for structures that hold addresses. Keep them alive as long as the kernel may look. */
  addressOf(bytes: Uint8Array): number;
}

/** Those that the calls of the fence can answer, by errno(3). */
const ERROR_NAMES: Record<number, string> = {
  1: "EPERM",
  2: "ENOENT",
  7: "E2BIG",
  8: "ENOEXEC",
  9: "EBADF",
  12: "ENOMEM",
  13: "EACCES",
  14: "EFAULT",
  22: "EINVAL",
  38: "ENOSYS",
  95: "EOPNOTSUPP",
};

let opened: Promise<Kernel> | undefined;

/**
 * Opens libc, once (about 1.5 ms). `bun:ffi` is imported here and nowhere else, so that the same sources load under Deno.
 * Throws on another processor than x86-64 and aarch64, and where libc is neither glibc nor musl.
 */
export function openKernel(): Promise<Kernel> {
  return opened ??= loadKernel();
}

/** A kernel's answer, or an error that names what was refused. */
export function demand(result: number, what: string): number {
  if (result < 0) throw new Error(`the kernel refused ${what} (${ERROR_NAMES[-result] ?? `error ${-result}`})`);
  return result;
}

async function loadKernel(): Promise<Kernel> {
  const arch = process.arch;
  if (!isKnownArch(arch)) throw new Error(`the kernel's fence has no table for the processor ${arch}`);
  const { dlopen, ptr, read } = await import("bun:ffi");
  const symbols = {
    syscall: { args: ["i64", "i64", "i64", "i64", "i64", "i64", "i64"], returns: "i64" },
    // glibc and musl both export it; the value belongs to the calling thread.
    __errno_location: { args: [], returns: "ptr" },
  } as const;
  const libc = firstOf(
    ["libc.so.6", `libc.musl-${arch === "x64" ? "x86_64" : "aarch64"}.so.1`],
    (name) => dlopen(name, symbols),
  );
  const address = (arg: Argument) => arg === null ? 0 : typeof arg === "number" ? arg : ptr(arg);
  return {
    arch,
    addressOf: ptr,
    call(name, ...args) {
      const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = args.map(address);
      const result = Number(libc.symbols.syscall(syscallNumber(name, arch), a, b, c, d, e, f));
      if (result !== -1) return result;
      const errno = libc.symbols.__errno_location();
      return errno === null ? -1 : -read.i32(errno);
    },
  };
}

/** Throws with what the loader said. Anything else than that a library did not load is no reason to try the next one. */
function firstOf<T>(names: string[], open: (name: string) => T): T {
  const reasons: string[] = [];
  for (const name of names) {
    try {
      return open(name);
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      // Bun runs without its compiler where it may not reserve the address space for it, and then without FFI.
      const why = `Bun cannot call the kernel here (${message}): the address space may be limited (ulimit -v)`;
      if (code !== "ERR_DLOPEN_FAILED") throw new Error(why);
      reasons.push(message);
    }
  }
  throw new Error(`the kernel's fence found no C library (${reasons.join("; ")})`);
}
