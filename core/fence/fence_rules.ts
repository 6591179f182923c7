/** What a fence lets through, and what is said about it: types only. */

/**
 * What a process behind the fence may do. Paths are absolute and real (links resolved); a rule holds for the folder and all below
 * it, or for the one file. A path that is missing is left out, except in `write` and `writeOnly`, where it is an error.
 */
export interface FenceRules {
  /** To be read, and started as programs. */
  readExec: string[];
  /** To be read. */
  read: string[];
  /** Devices to be read and written, as `/dev/null`. */
  devices: string[];
  /** Full rights: read, write, create, remove, start; never to make devices. */
  write: string[];
  /** The same without reading files and starting them: their names can be listed. */
  writeOnly: string[];
  /** `inet`: TCP and UDP to any host. `none`: no socket of any kind; pairs of connected ones stay, as pipes. */
  sockets: "inet" | "none";
  /**
   * Whether the process may start further programs. Linux cannot refuse that before the process itself has been started, so with
   * `false` it calls `denyExec` as its first act; macOS refuses it from outside.
   */
  exec: boolean;
  /** Use no later Landlock ABI than this one: shows what the fence holds on an older kernel. */
  maxAbi?: number;
}

/** The part of the rules that every fenced process needs: what belongs to the system. */
export type SystemRules = Pick<FenceRules, "readExec" | "read" | "devices">;

/** Which layer holds the tools on this machine, as the start line and `tenon doctor` say it. */
export interface FenceStatus {
  /** `kernel`: Landlock and seccomp, or Seatbelt. `runtime`: Deno's permissions. `guard`: only tenon's own check of paths. */
  level: "kernel" | "runtime" | "guard";
  /** 0 where there is none. */
  landlock_abi: number;
  seccomp: boolean;
  /** What the level does not hold, a line each, for the user. */
  not_covered: string[];
}
