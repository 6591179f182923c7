/** Gives up every capability, so that root is an ordinary user behind the fence; after capabilities(7) and prctl(2). */

import { demand, type Kernel } from "./kernel.ts";

const PR_CAPBSET_READ = 23;
const PR_CAPBSET_DROP = 24;
const PR_CAP_AMBIENT = 47;
const PR_CAP_AMBIENT_CLEAR_ALL = 4;
const CAP_SETPCAP = 8;
const LINUX_CAPABILITY_VERSION_3 = 0x20080522;

/**
 * Empties every capability set of the calling thread for good. With CAP_DAC_OVERRIDE or CAP_SYS_PTRACE, root could read
 * the environment of tenon's core. The bounding set goes first, since an execve by uid 0 fills the permitted set from it; without CAP_SETPCAP it
 * stays, and no_new_privs keeps execve from adding anything. Throws when a set is not empty afterwards.
 */
export function dropCapabilities(kernel: Kernel): void {
  if (effectiveCapabilities(kernel) & 1n << BigInt(CAP_SETPCAP)) {
    // PR_CAPBSET_READ answers EINVAL behind the last capability that this kernel knows.
    for (let capability = 0; kernel.call("prctl", PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++) {
      demand(kernel.call("prctl", PR_CAPBSET_DROP, capability, 0, 0, 0), "to drop a capability");
    }
  }
  demand(kernel.call("prctl", PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0), "to clear the ambient capabilities");
  demand(kernel.call("capset", capabilityHeader(), new Uint8Array(24)), "to give up the capabilities");
  if (effectiveCapabilities(kernel) !== 0n) throw new Error("the kernel left capabilities to this process");
}

/** The effective set of the calling thread, a bit for each capability. */
function effectiveCapabilities(kernel: Kernel): bigint {
  // Two records of effective, permitted, inheritable: the low and the high 32 bits.
  const data = new Uint32Array(6);
  demand(kernel.call("capget", capabilityHeader(), new Uint8Array(data.buffer)), "to tell the capabilities");
  return BigInt(data[0] ?? 0) | BigInt(data[3] ?? 0) << 32n;
}

/** `struct __user_cap_header_struct`: the version, and 0 for the calling thread. */
function capabilityHeader(): Uint8Array {
  return new Uint8Array(Uint32Array.of(LINUX_CAPABILITY_VERSION_3, 0).buffer);
}
