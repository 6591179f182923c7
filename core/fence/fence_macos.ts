/** The kernel's fence on macOS: a Seatbelt profile as text, and the start of a program behind it. Not yet run on a Mac. */

import process from "node:process";
import { existsSync } from "node:fs";
import type { FenceRules, FenceStatus, SystemRules } from "./fence_rules.ts";
import { openOnMac, openWithGuardOnly } from "./not_covered.ts";

const SANDBOX_EXEC = "/usr/bin/sandbox-exec";

/**
 * What a program and the system's libraries look up by name at their start, from the profiles that the system itself ships in
 * /System/Library/Sandbox/Profiles. Not the pasteboard, the key chain, or what opens other programs.
 */
const SERVICES = [
  "com.apple.system.notification_center",
  "com.apple.system.logger",
  "com.apple.system.opendirectoryd.libinfo",
  "com.apple.system.opendirectoryd.membership",
];

/** Names of hosts and of the network's settings; only where there is a network. */
const NETWORK_SERVICES = [
  "com.apple.SystemConfiguration.configd",
  "com.apple.SystemConfiguration.DNSConfiguration",
  "com.apple.networkd",
  "com.apple.trustd.agent",
];

/**
 * The profile for these rules, in Seatbelt's own language: what nothing allows is denied. `program` may always be started,
 * since sandbox-exec itself becomes it behind the profile. Paths have to be real ones (`/private/tmp`, not `/tmp`). Throws for a path that cannot be
 * written as a string of that language.
 */
export function seatbeltProfile(rules: FenceRules, program: string): string {
  const writable = rules.write;
  const started = rules.exec ? [...rules.readExec, ...writable] : [];
  return [
    "(version 1)",
    "(deny default)",
    "; itself",
    "(allow process-fork)",
    `(allow process-exec (literal ${quote(program)}))`,
    ...allowEach("process-exec", started),
    "(allow signal (target same-sandbox))",
    "(allow process-info* (target same-sandbox))",
    "(allow sysctl-read)",
    ...SERVICES.map((name) => `(allow mach-lookup (global-name ${quote(name)}))`),
    "; files: that they exist can be seen everywhere, as on Linux",
    "(allow file-read-metadata)",
    '(allow file-read* (literal "/"))',
    ...allowEach("file-read*", [program, ...rules.readExec, ...rules.read, ...rules.devices, ...writable]),
    ...allowEach("file-map-executable", [program, ...rules.readExec, ...writable]),
    ...allowEach("file-write*", [...writable, ...rules.writeOnly]),
    ...allowEach("file-write-data", rules.devices),
    ...allowEach("file-ioctl", rules.devices),
    "; no device nodes, whatever is allowed above",
    "(deny file-write-create (vnode-type CHARACTER-DEVICE))",
    "(deny file-write-create (vnode-type BLOCK-DEVICE))",
    ...(rules.sockets === "inet"
      ? [
        "; network: TCP and UDP, and the socket of the resolver",
        '(allow network-outbound (remote ip "*:*"))',
        '(allow network-inbound (local ip "*:*"))',
        '(allow network-outbound (literal "/private/var/run/mDNSResponder"))',
        "(allow system-socket)",
        ...NETWORK_SERVICES.map((name) => `(allow mach-lookup (global-name ${quote(name)}))`),
      ]
      : []),
    "",
  ].join("\n");
}

/** The command that starts `argv` behind the profile. `--` ends the options of sandbox-exec. */
export function seatbeltCommand(rules: FenceRules, argv: string[]): string[] {
  return [SANDBOX_EXEC, "-p", seatbeltProfile(rules, argv[0] ?? ""), "--", ...argv];
}

/** Becomes `argv` behind the profile; never returns. sandbox-exec refuses a process that is behind a profile already. */
export function enterMacFence(rules: FenceRules, argv: string[], env: Record<string, string>): never {
  const command = seatbeltCommand(rules, argv);
  if (!process.execve) throw new Error("this runtime cannot replace its process");
  return process.execve(SANDBOX_EXEC, command, env);
}

/** `kernel` where sandbox-exec is there. */
export function probeMacFence(): FenceStatus {
  const found = existsSync(SANDBOX_EXEC);
  return {
    level: found ? "kernel" : "guard",
    landlock_abi: 0,
    seccomp: false,
    not_covered: found ? openOnMac() : openWithGuardOnly(`${SANDBOX_EXEC} is missing`),
  };
}

/** The lists of the system on macOS. */
export function macSystemRules(): SystemRules {
  return {
    readExec: [
      "/usr",
      "/bin",
      "/sbin",
      "/System",
      "/Library/Apple",
      "/Library/Developer/CommandLineTools",
      "/opt/homebrew",
      "/opt/local",
    ],
    read: [
      "/private/etc/hosts",
      "/private/etc/passwd",
      "/private/etc/group",
      "/private/etc/localtime",
      "/private/etc/protocols",
      "/private/etc/services",
      "/private/etc/resolv.conf",
      "/private/etc/ssl/cert.pem",
      "/private/var/db/timezone",
      "/private/var/run/resolv.conf",
      "/dev/random",
      "/dev/urandom",
    ],
    devices: ["/dev/null", "/dev/zero"],
  };
}

function allowEach(operation: string, paths: string[]): string[] {
  return paths.map((path) => `(allow ${operation} (subpath ${quote(path)}))`);
}

/** A string of the profile's language: a backslash and a quotation mark are escaped, other controls have no safe form. */
function quote(text: string): string {
  // deno-lint-ignore no-control-regex -- these are the characters that this is about
  if (/[\u0000-\u001f\u007f]/.test(text)) throw new Error("a path with a control character cannot be fenced on macOS");
  return `"${text.replace(/[\\"]/g, (char) => `\\${char}`)}"`;
}
