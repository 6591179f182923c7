/** Inside a host: tells core of each temporary file before it is made, and waits until core has noted it. */

import type { Announce } from "../files/replacing.ts";
import type { AboutWrite, ToHost } from "./protocol.ts";

export interface HostWrites {
  announce: Announce;
  /** Where core's answers go. */
  take(message: ToHost & { type: "noted" }): void;
}

export function openHostWrites(send: (message: AboutWrite) => void): HostWrites {
  const waiting = new Map<number, () => void>();
  let next = 1;
  return {
    async announce(path) {
      const write = next++;
      const noted = new Promise<void>((resolve) => waiting.set(write, resolve));
      send({ type: "writing", write, path });
      await noted;
      return () => send({ type: "written", write });
    },
    take({ write }) {
      waiting.get(write)?.();
      waiting.delete(write);
    },
  };
}
