import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { existsSync, readFileSync } from "node:fs";
import { assembleFilter } from "../core/fence/bpf.ts";
import { CHANGING_FILES, refusals, STARTING_PROGRAMS } from "../core/fence/seccomp.ts";
import { type Arch, NO_NUMBER, type Syscall, syscallNumber, SYSCALLS } from "../core/fence/syscalls.ts";
import { runFilter } from "./support/bpf_interpreter.ts";

const ARCHES: [Arch, number][] = [["x64", 0xc000003e], ["arm64", 0xc00000b7]];
const EPERM = 1;
const ENOSYS = 38;
const high = (low: number) => 1n << 40n | BigInt(low);

type Row = [call: Syscall, args: (number | bigint)[], answer: "allow" | number];

/** The same in each fence. */
const ROWS: Row[] = [
  ["execve", [], "allow"],
  ["execveat", [], "allow"],
  ["prctl", [4, 0], "allow"],
  ["seccomp", [1, 0], "allow"],
  ["landlock_restrict_self", [3, 0], "allow"],
  ["ptrace", [0x4206, 1], EPERM],
  ["process_vm_writev", [1], EPERM],
  ["io_uring_setup", [4], EPERM],
  ["io_uring_enter", [], EPERM],
  ["shmget", [], EPERM],
  ["shmat", [7], EPERM],
  ["mq_open", [], EPERM],
  ["mq_unlink", [], EPERM],
  ["mount", [], EPERM],
  ["mount_setattr", [], EPERM],
  ["open_tree_attr", [], EPERM],
  ["open_by_handle_at", [], EPERM],
  ["clone", [0x01200011], "allow"],
  ["clone", [0x10000011], EPERM],
  ["clone", [high(0x10000000)], EPERM],
  ["clone3", [0, 88], ENOSYS],
  ["unshare", [0x400], "allow"],
  ["unshare", [0x10000000 | 0x20000], EPERM],
  ["ioctl", [0, 0x5401], "allow"],
  ["ioctl", [0, 0x5412], EPERM],
  ["ioctl", [0, high(0x5412)], EPERM],
  ["ioctl", [0, 0x541c], EPERM],
  ["ioctl", [0x5412, 0x541b], "allow"],
  ["prlimit64", [0, 7], "allow"],
  ["prlimit64", [1, 7], EPERM],
  ["prlimit64", [high(0), 7], "allow"],
  ["setpriority", [0, 0, 5], "allow"],
  ["setpriority", [0, 77, 5], EPERM],
  ["setpriority", [1, 0, 5], EPERM],
  ["setpriority", [2, 0, 5], EPERM],
  ["ioprio_set", [1, 0, 5], "allow"],
  ["ioprio_set", [1, 77, 5], EPERM],
  ["ioprio_set", [3, 0, 5], EPERM],
  ["sched_setaffinity", [0, 8], "allow"],
  ["sched_setaffinity", [77, 8], EPERM],
  ["sched_setscheduler", [77], EPERM],
  ["sched_setparam", [77], EPERM],
  ["sched_setattr", [77], EPERM],
  ["sendto", [3, 0, 1, 0x4000], "allow"],
  ["sendto", [3, 0, 1, 0x20000000], EPERM],
  ["sendto", [3, 0, 0x20000000, 0], "allow"],
  ["sendmsg", [3, 0, 0x20000000], EPERM],
  ["sendmsg", [3, 0, 0x40], "allow"],
  ["sendmmsg", [3, 0, 1, 0x20004000], EPERM],
  ["socketpair", [1, 1 | 0o2000000, 0], "allow"],
  ["socketpair", [1, 5, 0], "allow"],
  ["socketpair", [1, 2, 0], EPERM],
  ["socketpair", [1, 2 | 0o2004000, 0], EPERM],
  ["socketpair", [1, 3, 0], EPERM],
  ["socketpair", [2, 1, 0], EPERM],
];

const INET_ROWS: Row[] = [
  ["socket", [2, 1, 0], "allow"],
  ["socket", [2, 1 | 0o2004000, 6], "allow"],
  ["socket", [10, 2, 17], "allow"],
  ["socket", [high(2), 1, 0], "allow"],
  ["socket", [1, 1, 0], EPERM],
  ["socket", [16, 3, 0], EPERM],
  ["socket", [40, 1, 0], EPERM],
  ["socket", [2, 3, 6], EPERM],
  ["socket", [2, 2, 1], EPERM],
  ["socket", [2, 5, 0], EPERM],
  ["socket", [2, 6, 0], EPERM],
  ["socket", [2, 1, 262], EPERM],
  ["socket", [2, 1, 132], EPERM],
  ["connect", [3], "allow"],
  ["bind", [3], "allow"],
];

const NONE_ROWS: Row[] = [
  ["socket", [2, 1, 0], EPERM],
  ["socket", [1, 1, 0], EPERM],
  ["connect", [3], EPERM],
  ["bind", [3], EPERM],
];

describe.each(ARCHES)("the filter on %s", (arch, auditArch) => {
  const answerOf = (filter: Uint8Array, call: Syscall, args: (number | bigint)[] = []) =>
    runFilter(filter, { arch: auditArch, number: syscallNumber(call, arch), args });

  for (const [sockets, more] of [["inet", INET_ROWS], ["none", NONE_ROWS]] as const) {
    const filter = assembleFilter(refusals(sockets, 7), arch);

    test.each([...ROWS, ...more])(`with sockets ${sockets} answers %s(%p) with %p`, (call, args, answer) => {
      expect(answerOf(filter, call, args)).toBe(answer);
    });

    test(`with sockets ${sockets} kills a call of another architecture and allows what no row names`, () => {
      const numbers = new Set(SYSCALLS.map((name) => syscallNumber(name, arch)));
      fc.assert(fc.property(fc.integer({ min: 0, max: 600 }), fc.integer({ min: 0 }), (number, other) => {
        fc.pre(other !== auditArch);
        expect(runFilter(filter, { arch: other, number })).toBe("kill");
        if (!numbers.has(number)) expect(runFilter(filter, { arch: auditArch, number })).toBe("allow");
      }));
    });

    test(`with sockets ${sockets} is short enough for the kernel`, () => {
      expect(filter.length / 8).toBeLessThan(4096);
    });
  }

  test.each([[1, EPERM], [2, EPERM], [3, "allow"], [7, "allow"]] as const)(
    "at Landlock ABI %d answers truncate with %p",
    (abi, answer) => {
      expect(answerOf(assembleFilter(refusals("none", abi), arch), "truncate", [])).toBe(answer);
    },
  );

  test("that ends the right to start programs refuses execve and execveat only", () => {
    const filter = assembleFilter(STARTING_PROGRAMS, arch);
    for (const call of SYSCALLS) {
      expect([call, answerOf(filter, call)]).toEqual([call, /^execve/.test(call) ? EPERM : "allow"]);
    }
  });

  test("for a process that writes nothing refuses modes, owners, times and attributes only", () => {
    const filter = assembleFilter(CHANGING_FILES, arch);
    const there = SYSCALLS.filter((call) => syscallNumber(call, arch) !== NO_NUMBER);
    const refused = there.filter((call) => answerOf(filter, call) === EPERM);
    expect(refused.filter((call) => !/^l?f?(ch(mod|own)|utime|(set|remove)xattr|file_setattr)/.test(call))).toEqual([]);
    expect(refused.length).toBe(arch === "x64" ? 21 : 15);
  });
});

test("the filter on x64 refuses every call of the x32 kind", () => {
  const filter = assembleFilter(refusals("inet", 7), "x64");
  for (const number of [0x40000000, 0x40000000 | 520, 0x40000000 | 59]) {
    expect(runFilter(filter, { arch: 0xc000003e, number })).toBe(EPERM);
  }
});

test("refusals names each call once, since the first row of a call decides", () => {
  for (const sockets of ["inet", "none"] as const) {
    const calls = refusals(sockets, 1).map(({ call }) => call);
    expect(new Set(calls).size).toBe(calls.length);
  }
});

describe("syscallNumber agrees with the kernel's headers", () => {
  const headers: [Arch, string][] = [
    ["x64", "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"],
    ["arm64", "/usr/include/asm-generic/unistd.h"],
  ];
  for (const [arch, header] of headers) {
    test.skipIf(!existsSync(header))(`on ${arch} (${header})`, () => {
      const numbers = new Map<string, number>();
      for (const [, name, number] of readFileSync(header, "utf8").matchAll(/#define __NR(?:3264)?_(\w+)\s+(\d+)$/gm)) {
        numbers.set(name!, Number(number));
      }
      // Headers are often older than the kernel: what they do not name is not compared.
      const there = SYSCALLS.filter((name) => syscallNumber(name, arch) !== NO_NUMBER);
      const known = there.filter((name) => numbers.has(name));
      expect(known.length).toBeGreaterThan(there.length - 8);
      expect(known.map((name) => [name, syscallNumber(name, arch)]))
        .toEqual(known.map((name) => [name, numbers.get(name)!]));
    });
  }
});
