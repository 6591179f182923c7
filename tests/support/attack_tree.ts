/** The world of one attack: a workspace, what lies beside it, a home with secrets, and a sink that nothing may reach. */

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";

export interface Tree extends AsyncDisposable {
  top: string;
  ws: string;
  out: string;
  home: string;
  plugins: string;
  canary: string;
  key: string;
  /** What reached the sink: a line per contact, with the first bytes. */
  contacts: string[];
  /** `$WS` and the like, by their values. */
  words: Readonly<Record<string, string>>;
  /** Puts the values in the place of the words, in texts, lists and objects. */
  fill<T>(value: T): T;
  has(...path: string[]): boolean;
}

export async function makeTree(): Promise<Tree> {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "tenon-attack-")));
  const random = crypto.randomUUID();
  const canary = `CANARY_${random}`;
  const key = `CANARYKEY_${random}`;
  const [ws, out, home, plugins] = ["ws", "out", "home", "plugins"].map((name) => join(top, name)) as [
    string,
    string,
    string,
    string,
  ];
  const files: [path: string, text: string][] = [
    [join(ws, "f.txt"), "hello\n"],
    [join(out, "secret.txt"), `${canary}\n`],
    ...[".ssh/id_rsa", ".aws/credentials", ".netrc", ".git-credentials", ".config/gh/hosts.yml"].map((name) =>
      [join(home, name), `${canary}\n`] as [string, string]
    ),
  ];
  mkdirSync(plugins, { recursive: true });
  for (const [path, text] of files) {
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, text, { mode: 0o600 });
  }
  const contacts: string[] = [];
  const sink = createServer((socket) => {
    const at = contacts.push("") - 1;
    socket.on("data", (bytes) => {
      contacts[at] += bytes.toString("latin1");
      socket.end("HTTP/1.0 200 OK\r\n\r\nsunk");
    });
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => sink.listen(0, resolve));
  const port = (sink.address() as { port: number }).port;
  const words: Record<string, string> = {
    $WS: ws,
    $OUT: out,
    $FH: home,
    $PLUGDIR: plugins,
    $TOP: top,
    $CANARY: canary,
    $KEY: key,
    $SINKPORT: `${port}`,
    $SINK: `127.0.0.1:${port}`,
    $FARSINK: `${ownAddress()}:${port}`,
  };
  const pattern = new RegExp(Object.keys(words).map((word) => `\\${word}`).join("|"), "g");
  function fill<T>(value: T): T {
    if (typeof value === "string") return value.replace(pattern, (word) => words[word] ?? word) as T;
    if (Array.isArray(value)) return value.map(fill) as T;
    if (typeof value !== "object" || value === null || value instanceof RegExp) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fill(item)])) as T;
  }
  return {
    ...{ top, ws, out, home, plugins, canary, key, contacts, words, fill },
    has: (...path) => lstatSync(join(...path), { throwIfNoEntry: false }) !== undefined,
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => sink.close(resolve));
      rmSync(top, { recursive: true, force: true });
    },
  };
}

/** An address of this machine that is not loopback, where it has one. */
function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return all.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? "";
}

/** Names, contents, modes and link targets of all below a folder. */
export function hashTree(folder: string): string {
  const hash = createHash("sha256");
  function add(path: string): void {
    const kind = lstatSync(path);
    hash.update(`${path}\0${kind.mode}\0${kind.isFile() ? kind.size : 0}\0`);
    if (kind.isDirectory()) { for (const name of readdirSync(path).sort()) add(join(path, name)); }
    else if (kind.isSymbolicLink()) hash.update(readlinkSync(path));
    else if (kind.isFile()) hash.update(readFileSync(path));
  }
  if (existsSync(folder)) add(folder);
  return hash.digest("hex");
}

/** The files below a folder that hold the text; links are not followed. By grep, since a name may be no text. */
export function filesWith(folder: string, text: string): string[] {
  const grep = ["-exec", "grep", "-laF", "--", text, "{}", "+"];
  // What is larger was made by the attack, up to a terabyte, and holds nothing of ours.
  const { stdout } = spawnSync("find", [folder, "-type", "f", "-size", "-10M", ...grep], { encoding: "utf8" });
  return stdout.split("\n").filter((line) => line !== "");
}
