/** The process of a host, from its start to its first message: enter the fence, try it, then serve. Bun only. */

import { closeSync, createReadStream, openSync, writeSync } from "node:fs";
import process from "node:process";
import { openDescendants } from "../commands/descendants.ts";
import {
  type Canary,
  denyExec,
  enterFence,
  type FenceRules,
  hardenCore,
  limitMemory,
  ownCommand,
  selfTest,
} from "../fence/fence.ts";
import { demand, type Kernel, openKernel } from "../fence/kernel.ts";
import type { Channel, FromHost } from "./protocol.ts";
import { ROLE } from "./role.ts";

/** What core tells the process of a host in its environment. */
export interface HostSetup {
  /** `null` where no kernel fence is wanted or to be had; it is never just left out. */
  rules: FenceRules | null;
  /** What the self-test must not be able to open. */
  canary?: Canary;
  corePid: number;
  /** Bytes of data memory that tools may take. */
  memoryBytes: number;
}

/** Where the handles of core go, and above: above what a child of a tool inherits; `close-on-exec` sees to the rest. */
const FIRST_HANDLE = 100;
const F_DUPFD_CLOEXEC = 1030;
const RLIMIT_NOFILE = 7;
const PR_SET_PDEATHSIG = 1;
const SIGKILL = 9;
const SIGCONT = 18;

/** Those of the pipes from and to core. */
interface Handles {
  input: number;
  output: number;
}

/** A plugin may put other functions in the place of these: it must not be able to keep its own host from answering. */
const { parse, stringify } = JSON;
const encoder = new TextEncoder();
const encode = encoder.encode.bind(encoder);
const write = writeSync;

/** Entry of the process: the whole value of ROLE. Ends the process with exit code 2 and words on stderr when the fence fails. */
export async function runHost(role: string): Promise<void> {
  delete process.env[ROLE];
  let handles = { input: 0, output: 1 };
  try {
    const [, part, json = ""] = /^(host|tools) (\{.*\})$/s.exec(role) ?? [];
    const setup = json === "" ? undefined : JSON.parse(json) as HostSetup;
    if (setup?.rules === undefined || setup.corePid !== process.ppid) {
      throw new Error(`${ROLE} is set, but tenon did not set it`);
    }
    if (part === "host" && setup.rules) {
      const env = { ...process.env as { [name: string]: string }, [ROLE]: `tools ${json}` };
      await enterFence(setup.rules, ownCommand([]), env);
    }
    // Behind the fence: nothing of a plugin has been imported yet.
    if (process.platform === "linux") handles = await moveHandles();
    await settle(setup);
  } catch (error) {
    fail(error instanceof Error ? error.message : String(error));
  }
  // Not before: whoever goes behind the fence starts anew there.
  const { serveHost, uncaught } = await import("./host.ts");
  for (const event of ["uncaughtException", "unhandledRejection"]) {
    process.on(event, (error) => endUncaught(error, uncaught(error)));
  }
  serveHost(openChannel(handles));
}

/** The runtime would end the process too, but in words of its own. */
function endUncaught(error: unknown, reason: string): never {
  write(2, `${error instanceof Error ? error.stack : ""}\n`);
  fail(reason);
}

/** Tries the fence, and closes what a plugin needs no more. */
async function settle({ rules, canary, corePid, memoryBytes }: HostSetup): Promise<void> {
  if (process.platform === "linux") await endWithCore(corePid, rules?.exec ?? true);
  if (!rules) return;
  // What a command reads of its host's memory would be the calls of other tools.
  if (rules.exec) await hardenCore();
  else await denyExec();
  await limitMemory(memoryBytes);
  const outside = canary === undefined ? {} : { canary };
  const failures = await selfTest({ ...outside, corePid, sockets: rules.sockets, noExec: !rules.exec });
  if (failures.length > 0) throw new Error(`the fence does not hold: ${failures.join("; ")}`);
}

/**
 * What a handler or a native library prints must not reach the protocol: the handles of core move up, `/dev/null` takes
 * the place of stdin, and stdout goes where stderr goes.
 */
async function moveHandles(): Promise<Handles> {
  const kernel = await openKernel();
  const [input, output] = [moveUp(kernel, 0), moveUp(kernel, 1)];
  const nothing = openSync("/dev/null", "r");
  kernel.call("dup3", nothing, 0, 0);
  kernel.call("dup3", 2, 1, 0);
  if (nothing !== 0) closeSync(nothing);
  return { input, output };
}

/** To the first free one from there on; with a low limit from its middle on, since the runtime has the lowest. fcntl(2). */
function moveUp(kernel: Kernel, handle: number): number {
  const limits = new BigUint64Array(2);
  demand(kernel.call("prlimit64", 0, RLIMIT_NOFILE, null, new Uint8Array(limits.buffer)), "to tell a limit");
  const limit = Number(limits[0]);
  const moved = kernel.call("fcntl", handle, F_DUPFD_CLOEXEC, Math.min(FIRST_HANDLE, Math.floor(limit / 2)));
  if (moved < 0) throw new Error(`only ${limit} files may be open at a time. Raise the limit: ulimit -n 1024`);
  return moved;
}

/**
 * Even if core is killed while a handler spins, so that nobody here would notice. prctl(2). A host that starts programs
 * must not go like that: it hears the end of its channel, and takes with it all that runs below, also when a command had stopped it.
 */
async function endWithCore(corePid: number, startsPrograms: boolean): Promise<void> {
  if (startsPrograms) {
    const below = await openDescendants();
    process.on("exit", () => below?.end());
  }
  (await openKernel()).call("prctl", PR_SET_PDEATHSIG, startsPrograms ? SIGCONT : SIGKILL, 0, 0, 0);
  if (process.ppid !== corePid) process.exit(0);
}

function openChannel(handles: Handles): Channel {
  return {
    send: (message) => writeAll(handles.output, message as FromHost),
    receive(handle) {
      const input = createReadStream("", { fd: handles.input });
      const decoder = new TextDecoder();
      let rest = "";
      input.on("data", (chunk) => {
        const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) handle(parse(line));
      });
      // Core is gone: nobody wants an answer.
      input.on("close", () => process.exit(0));
      input.on("error", () => process.exit(0));
    },
  };
}

/** The pipe may be full for a moment: the other side reads on. */
function writeAll(handle: number, message: FromHost): void {
  const bytes = encode(`${stringify(message)}\n`);
  for (let at = 0; at < bytes.length;) {
    try {
      at += write(handle, bytes, at);
    } catch (error) {
      if ((error as { code?: string }).code !== "EAGAIN") process.exit(0);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

function fail(reason: string): never {
  write(2, `tenon host: ${reason}\n`);
  process.exit(2);
}
