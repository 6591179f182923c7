/** The numbers of the system calls that the fence makes or refuses, for both processors. */

/** Processors that the fence knows, as `process.arch` names them. */
export type Arch = "x64" | "arm64";

/** Where a processor has no call of that name: no call has this number. */
export const NO_NUMBER = 0xffffffff;

/**
 * `name: [x86-64, aarch64]`, from the kernel's arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h.
 * From 424 on the two agree.
 */
const NUMBERS = {
  // Made by the fence itself.
  capget: [125, 90],
  capset: [126, 91],
  close_range: [436, 436],
  dup3: [292, 24],
  fcntl: [72, 25],
  execve: [59, 221],
  execveat: [322, 281],
  landlock_add_rule: [445, 445],
  landlock_create_ruleset: [444, 444],
  landlock_restrict_self: [446, 446],
  prctl: [157, 167],
  prlimit64: [302, 261],
  seccomp: [317, 277],
  // Made for commands: one pipe for what they say, and the end of what they leave behind.
  pipe2: [293, 59],
  wait4: [61, 260],
  waitid: [247, 95],
  // Made for files: a rename that loses nothing.
  renameat2: [316, 276],
  // Looking into other processes.
  kcmp: [312, 272],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
  pidfd_getfd: [438, 438],
  process_madvise: [440, 440],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  ptrace: [101, 117],
  // Wide doors into the kernel.
  bpf: [321, 280],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  io_uring_setup: [425, 425],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  // Keys and shared objects that have no path.
  add_key: [248, 217],
  keyctl: [250, 219],
  mq_open: [240, 180],
  mq_unlink: [241, 181],
  msgctl: [71, 187],
  msgget: [68, 186],
  msgrcv: [70, 188],
  msgsnd: [69, 189],
  request_key: [249, 218],
  semctl: [66, 191],
  semget: [64, 190],
  semop: [65, 193],
  semtimedop: [220, 192],
  shmat: [30, 196],
  shmctl: [31, 195],
  shmget: [29, 194],
  // Changing what paths mean.
  chroot: [161, 51],
  clone: [56, 220],
  clone3: [435, 435],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fsopen: [430, 430],
  fspick: [433, 433],
  mount: [165, 40],
  mount_setattr: [442, 442],
  move_mount: [429, 429],
  open_by_handle_at: [304, 265],
  open_tree: [428, 428],
  open_tree_attr: [467, 467],
  pivot_root: [155, 41],
  setns: [308, 268],
  umount2: [166, 39],
  unshare: [272, 97],
  // The machine.
  acct: [163, 89],
  delete_module: [176, 106],
  finit_module: [313, 273],
  init_module: [175, 105],
  kexec_file_load: [320, 294],
  kexec_load: [246, 104],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  reboot: [169, 142],
  swapoff: [168, 225],
  swapon: [167, 224],
  syslog: [103, 116],
  // Priority and limits.
  ioprio_set: [251, 30],
  sched_setaffinity: [203, 122],
  sched_setattr: [314, 274],
  sched_setparam: [142, 118],
  sched_setscheduler: [144, 119],
  setpriority: [141, 140],
  // Sockets.
  bind: [49, 200],
  connect: [42, 203],
  sendmmsg: [307, 269],
  sendmsg: [46, 211],
  sendto: [44, 206],
  socket: [41, 198],
  socketpair: [53, 199],
  // What a file is, besides its bytes.
  chmod: [90, NO_NUMBER],
  fchmod: [91, 52],
  fchmodat: [268, 53],
  fchmodat2: [452, 452],
  chown: [92, NO_NUMBER],
  lchown: [94, NO_NUMBER],
  fchown: [93, 55],
  fchownat: [260, 54],
  utime: [132, NO_NUMBER],
  utimes: [235, NO_NUMBER],
  futimesat: [261, NO_NUMBER],
  utimensat: [280, 88],
  setxattr: [188, 5],
  lsetxattr: [189, 6],
  fsetxattr: [190, 7],
  setxattrat: [463, 463],
  removexattr: [197, 14],
  lremovexattr: [198, 15],
  fremovexattr: [199, 16],
  removexattrat: [466, 466],
  file_setattr: [469, 469],
  // Terminal and files.
  ioctl: [16, 29],
  truncate: [76, 45],
} as const;

/** A system call by its name in the manual. */
export type Syscall = keyof typeof NUMBERS;

/** Every system call that the fence has a number for. */
export const SYSCALLS = Object.keys(NUMBERS) as Syscall[];

/** Its number on that processor. */
export function syscallNumber(name: Syscall, arch: Arch): number {
  return NUMBERS[name][arch === "x64" ? 0 : 1];
}

/** Whether the fence has numbers for this processor. */
export function isKnownArch(arch: string): arch is Arch {
  return arch === "x64" || arch === "arm64";
}
