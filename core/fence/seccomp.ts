/** The system calls half of the kernel's fence on Linux: which calls are refused, as a table. */

import { assembleFilter, type Condition, type Refusal } from "./bpf.ts";
import type { FenceRules } from "./fence_rules.ts";
import { demand, type Kernel } from "./kernel.ts";
import type { Syscall } from "./syscalls.ts";

const EPERM = 1;
const ENOSYS = 38;

const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const SOCK_STREAM = 1;
const SOCK_DGRAM = 2;
const SOCK_SEQPACKET = 5;
/** The kind of a socket, without SOCK_CLOEXEC and SOCK_NONBLOCK. */
const SOCK_TYPE_MASK = 0xf;
const IPPROTO_TCP = 6;
const IPPROTO_UDP = 17;
const MSG_FASTOPEN = 0x20000000;
const CLONE_NEWUSER = 0x10000000;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const PRIO_PROCESS = 0;
const IOPRIO_WHO_PROCESS = 1;

/** Refused whatever the arguments are. */
const ALWAYS: Syscall[] = [
  // Looking into other processes, or steering them.
  "ptrace",
  "process_vm_readv",
  "process_vm_writev",
  "pidfd_getfd",
  "kcmp",
  "process_madvise",
  "migrate_pages",
  "move_pages",
  // Wide doors into the kernel; io_uring would also pass by every rule of this table.
  "bpf",
  "perf_event_open",
  "userfaultfd",
  "io_uring_setup",
  "io_uring_enter",
  "io_uring_register",
  // Keys and shared objects without a path, which Landlock does not see. An object is found by its number alone, so
  // refusing to look it up (shmget) is not enough.
  "add_key",
  "request_key",
  "keyctl",
  "shmget",
  "shmat",
  "shmctl",
  "msgget",
  "msgsnd",
  "msgrcv",
  "msgctl",
  "semget",
  "semop",
  "semtimedop",
  "semctl",
  "mq_open",
  "mq_unlink",
  // Changing what paths mean.
  "mount",
  "umount2",
  "mount_setattr",
  "move_mount",
  "open_tree",
  "open_tree_attr",
  "fsopen",
  "fsconfig",
  "fsmount",
  "fspick",
  "pivot_root",
  "chroot",
  "setns",
  "open_by_handle_at",
  // The machine.
  "kexec_load",
  "kexec_file_load",
  "init_module",
  "finit_module",
  "delete_module",
  "swapon",
  "swapoff",
  "acct",
  "quotactl",
  "quotactl_fd",
  "syslog",
  "reboot",
];

/** Refused when one of the conditions holds. The kernel reads each of these arguments as 32 bits, and so does the filter. */
const BY_ARGUMENT: Refusal[] = [
  // A user namespace brings every capability within it. clone3 hides its flags in memory: ENOSYS makes libc use clone.
  { call: "clone", when: [{ arg: 0, bits: CLONE_NEWUSER }], errno: EPERM },
  { call: "unshare", when: [{ arg: 0, bits: CLONE_NEWUSER }], errno: EPERM },
  { call: "clone3", errno: ENOSYS },
  // Typing into the terminal that was inherited (CVE-2017-5226; comparing 64 bits was CVE-2019-10063).
  { call: "ioctl", when: [{ arg: 1, anyOf: [TIOCSTI, TIOCLINUX] }], errno: EPERM },
  // Own limits and priority only: pid 0 is the caller.
  { call: "prlimit64", when: [{ arg: 0, noneOf: [0] }], errno: EPERM },
  { call: "setpriority", when: [{ arg: 0, noneOf: [PRIO_PROCESS] }, { arg: 1, noneOf: [0] }], errno: EPERM },
  { call: "ioprio_set", when: [{ arg: 0, noneOf: [IOPRIO_WHO_PROCESS] }, { arg: 1, noneOf: [0] }], errno: EPERM },
  { call: "sched_setparam", when: [{ arg: 0, noneOf: [0] }], errno: EPERM },
  { call: "sched_setscheduler", when: [{ arg: 0, noneOf: [0] }], errno: EPERM },
  { call: "sched_setattr", when: [{ arg: 0, noneOf: [0] }], errno: EPERM },
  { call: "sched_setaffinity", when: [{ arg: 0, noneOf: [0] }], errno: EPERM },
  // Fast open connects while it sends, past Landlock's rule on connect.
  { call: "sendto", when: [{ arg: 3, bits: MSG_FASTOPEN }], errno: EPERM },
  { call: "sendmsg", when: [{ arg: 2, bits: MSG_FASTOPEN }], errno: EPERM },
  { call: "sendmmsg", when: [{ arg: 3, bits: MSG_FASTOPEN }], errno: EPERM },
  // A pair is a pipe, but a datagram socket of a pair still sends to any other address.
  {
    call: "socketpair",
    when: [{ arg: 0, noneOf: [AF_UNIX] }, { arg: 1, mask: SOCK_TYPE_MASK, noneOf: [SOCK_STREAM, SOCK_SEQPACKET] }],
    errno: EPERM,
  },
];

/** TCP and UDP over IP. By its kind too: protocol 0 of other kinds is SCTP or DCCP. MPTCP has a number of its own. */
const OTHER_THAN_INTERNET: Condition[] = [
  { arg: 0, noneOf: [AF_INET, AF_INET6] },
  { arg: 1, mask: SOCK_TYPE_MASK, noneOf: [SOCK_STREAM, SOCK_DGRAM] },
  { arg: 2, noneOf: [0, IPPROTO_TCP, IPPROTO_UDP] },
];

const SOCKETS: Record<FenceRules["sockets"], Refusal[]> = {
  inet: [{ call: "socket", when: OTHER_THAN_INTERNET, errno: EPERM }],
  none: [
    { call: "socket", errno: EPERM },
    { call: "connect", errno: EPERM },
    { call: "bind", errno: EPERM },
  ],
};

/** What the filter of a fence refuses, by the sockets that it leaves and the Landlock ABI below it. */
export function refusals(sockets: FenceRules["sockets"], abi: number): Refusal[] {
  return [
    ...ALWAYS.map((call): Refusal => ({ call, errno: EPERM })),
    ...BY_ARGUMENT,
    ...SOCKETS[sockets],
    // Below ABI 3 Landlock does not see a path being truncated; programs mostly truncate what they have opened.
    ...(abi < 3 ? [{ call: "truncate", errno: EPERM } as const] : []),
  ];
}

const CHANGES: Syscall[][] = [
  ["chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchown", "fchownat"],
  ["utime", "utimes", "futimesat", "utimensat"],
  ["setxattr", "lsetxattr", "fsetxattr", "setxattrat"],
  ["removexattr", "lremovexattr", "fremovexattr", "removexattrat", "file_setattr"],
];

/**
 * What is refused to a process that may write nothing: modes, owners, times and attributes, which Landlock does not see. With
 * them it would take away, or open, what lies outside of every grant.
 */
export const CHANGING_FILES: Refusal[] = CHANGES.flat().map((call) => ({ call, errno: EPERM }));

/** What is refused to a process that may start no further program. */
export const STARTING_PROGRAMS: Refusal[] = [{ call: "execve", errno: EPERM }, { call: "execveat", errno: EPERM }];

const SECCOMP_SET_MODE_FILTER = 1;
const SECCOMP_FILTER_FLAG_TSYNC = 1;

/**
 * Puts a filter on the calling thread, or on all threads of the process, and on what they start; it cannot be taken off, and the
 * strictest of several filters decides. After seccomp(2) and Documentation/userspace-api/seccomp_filter.rst. The
 * caller has set no_new_privs. Throws when the kernel refuses, also when one thread could not follow.
 */
export function installFilter(kernel: Kernel, refused: Refusal[], threads: "this" | "all"): void {
  const filter = assembleFilter(refused, kernel.arch);
  // struct sock_fprog: the number of instructions in 2 bytes, and at 8 the address of the first.
  const program = new DataView(new ArrayBuffer(16));
  program.setUint16(0, filter.length / 8, true);
  program.setBigUint64(8, BigInt(kernel.addressOf(filter)), true);
  const flags = threads === "all" ? SECCOMP_FILTER_FLAG_TSYNC : 0;
  const result = kernel.call("seccomp", SECCOMP_SET_MODE_FILTER, flags, new Uint8Array(program.buffer));
  demand(result, "the seccomp filter");
  // With TSYNC a positive answer is the id of a thread that has other filters, and then no thread got this one.
  if (result > 0) throw new Error("one thread of this process could not be put behind the seccomp filter");
}

/** Whether this kernel has seccomp filters: asked with no filter, one that has them answers EFAULT. */
export function hasSeccomp(kernel: Kernel): boolean {
  return kernel.call("seccomp", SECCOMP_SET_MODE_FILTER, 0, null) === -14;
}
