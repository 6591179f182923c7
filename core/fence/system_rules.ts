/** Which paths of the system a fenced process on Linux may read, start programs from, or use as devices. */

import { lstatSync, realpathSync } from "node:fs";
import type { SystemRules } from "./fence_rules.ts";

const PROGRAMS = ["/usr", "/lib", "/lib64", "/bin", "/sbin", "/opt", "/nix/store", "/snap"];

/**
 * Single files and folders of /etc, never /etc itself. Of ssl and pki only what is public: beside it lie private keys, which root
 * may read.
 */
const SETTINGS = [
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "resolv.conf",
  "hosts",
  "nsswitch.conf",
  "host.conf",
  "gai.conf",
  "passwd",
  "group",
  "localtime",
  "ssl/certs",
  "ssl/openssl.cnf",
  "ssl/cert.pem",
  "ca-certificates",
  "pki/ca-trust/extracted",
  "pki/tls/certs",
  "pki/tls/cert.pem",
  "pki/tls/openssl.cnf",
  "crypto-policies",
  "alternatives",
  "gitconfig",
  "os-release",
  "terminfo",
  "services",
  "protocols",
  // Who only looks whether these are there fails when they then cannot be read (pip and debian_version).
  "debian_version",
  "lsb-release",
  "redhat-release",
  "system-release",
  "alpine-release",
  "timezone",
  "mime.types",
  "magic",
  // Where distributions keep the settings of languages, which do not start without.
  "perl",
  "maven",
  "php",
  "fonts",
  "xml",
  ...["3", ...upTo(20).map((minor) => `3.${minor}`)].map((version) => `python${version}`),
  ...upTo(30).map((version) => `java-${version}-openjdk`),
  ...["6", "7"].map((version) => `ImageMagick-${version}`),
].map((name) => `/etc/${name}`);

/** Bun ends without /proc/self/maps, and programs that a command starts need their own: the whole of /proc. */
const KERNEL = ["/proc", "/sys/fs/cgroup", "/sys/devices/system/cpu", "/dev/urandom", "/dev/random"];

/** Not /dev/tty, which is the user's terminal, nor /dev/shm, which all processes share. */
const DEVICES = ["/dev/null", "/dev/zero", "/dev/full"];

/** The lists of the system that exist on this machine. */
export function linuxSystemRules(): SystemRules {
  return {
    readExec: PROGRAMS.filter(exists),
    read: [...SETTINGS.filter(exists), ...resolverFolder(), ...KERNEL.filter(exists)],
    devices: DEVICES.filter(exists),
  };
}

/** By name, since /etc itself cannot be listed behind the fence. */
function upTo(last: number): number[] {
  return Array.from({ length: last + 1 }, (_, index) => index);
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Where /etc/resolv.conf leads to: the file there is replaced when the network changes, so a rule on the file would be lost. */
function resolverFolder(): string[] {
  try {
    const file = realpathSync("/etc/resolv.conf");
    const folder = file.slice(0, file.lastIndexOf("/"));
    return folder === "/etc" ? [] : [folder];
  } catch {
    return [];
  }
}
