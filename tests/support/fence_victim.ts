/** A process outside the fence, to be attacked: opens what probes aim at, says where, and ends with its stdin. */

import { ptr } from "bun:ffi";
import { join } from "node:path";
import { raw, unixAddress } from "./raw_calls.ts";

/** What probes need to know of the victim. */
export interface Victim {
  pid: number;
  tcpPort: number;
  streamSocket: string;
  abstractSocket: string;
  datagramSocket: string;
  sharedMemory: number;
  queue: string;
  /** Of eight bytes in its memory. */
  address: number;
}

const AF_UNIX = 1;
const SOCK_STREAM = 1;
const SOCK_DGRAM = 2;
const IPC_PRIVATE = 0;
const IPC_RMID = 0;
const O_CREAT_RDWR = 0o102;

function openVictim(folder: string): Victim {
  const memory = new Uint8Array(8).fill(7);
  const listen = (name: string, type: number) => {
    const socket = raw("socket", AF_UNIX, type, 0);
    const address = unixAddress(name);
    raw("bind", socket, address, address.length);
    if (type === SOCK_STREAM) raw("listen", socket, 100);
    return name;
  };
  const queue = `tenon-fence-${process.pid}`;
  raw("mq_open", queue, O_CREAT_RDWR, 0o666, 0);
  // Marked to go away with the last process that has it, it can still be attached by its number.
  const sharedMemory = raw("shmget", IPC_PRIVATE, 4096, 0o600);
  raw("shmat", sharedMemory, 0, 0);
  raw("shmctl", sharedMemory, IPC_RMID, 0);
  const { port } = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  (globalThis as { kept?: unknown }).kept = memory;
  return {
    pid: process.pid,
    tcpPort: port,
    streamSocket: listen(join(folder, "stream.sock"), SOCK_STREAM),
    abstractSocket: listen(`\0tenon-fence-${process.pid}`, SOCK_STREAM),
    datagramSocket: listen(join(folder, "datagram.sock"), SOCK_DGRAM),
    sharedMemory,
    queue,
    address: ptr(memory),
  };
}

if (import.meta.main) {
  const victim = openVictim(process.argv[2]!);
  console.log(JSON.stringify(victim));
  for await (const _ of Bun.stdin.stream());
  try {
    raw("mq_unlink", victim.queue);
  } catch {
    // A probe was faster.
  }
  process.exit(0);
}
