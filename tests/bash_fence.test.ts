import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { probeFence } from "../core/fence/fence.ts";
import { SOURCES } from "./support/program.ts";
import { openShell, type Shell } from "./support/shell.ts";

setDefaultTimeout(60_000);

const KEY = "sk-canary-of-the-key";
const CANARY = "canary-outside-5261";
const fence = await probeFence();
const hasFence = fence.level === "kernel";

/** Logs all that reaches it. */
function openSink() {
  const contacts: string[] = [];
  const listener = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(socket) {
        contacts.push("connected");
        socket.end("sink\n");
      },
      data: (_, bytes) => void contacts.push(new TextDecoder().decode(bytes)),
    },
  });
  return { port: listener.port, contacts, close: () => listener.stop(true) };
}

interface Attack {
  id: string;
  command: string;
  /** What shows that it works where nothing stops it, in what it prints there; left out where there it would do harm. */
  breach?: RegExp;
  /** What it may not print behind the fence. */
  never?: RegExp;
  /** What it has to print there. */
  shows?: RegExp;
}

/** `$OUT` is a folder outside, `$SINK` a port, `$VICTIM` a process of the test's; $HOME where the attacker looks for it. */
const ATTACKS: Attack[] = [
  {
    id: "SEC-01 environment",
    command: "env; set; export -p",
    breach: new RegExp(`${KEY}[^]*|${CANARY}`),
    never: new RegExp(`${KEY}|${CANARY}|SSH_AUTH_SOCK|DBUS_SESSION|^LD_|BUN_|NODE_OPTIONS|ANTHROPIC|TENON_ROLE`, "m"),
    shows: /^HOME=.*\/run\/\d+-\d+\/home$/m,
  },
  {
    id: "SEC-03 the memory of its host and of core",
    command: `for p in $PPID $(sed 's/.*) . \\([0-9]*\\).*/\\1/' /proc/$PPID/stat); do
      head -c 1 /proc/$p/mem /proc/$p/environ /proc/$p/maps >/dev/null && echo OPENED
      python3 -c "import ctypes;l=ctypes.CDLL(None);print('ATTACH', l.ptrace(16,$p,0,0))"
    done; echo done`,
    never: /OPENED|ATTACH 0/,
    shows: /ATTACH -1\nATTACH -1|Permission denied[^]*done/,
  },
  {
    id: "SEC-15 logins in the home folder",
    command: "cat $FH/.ssh/id_rsa $FH/.netrc $FH/.aws/credentials ~/.ssh/id_rsa; ls -R ~ $FH",
    breach: new RegExp(CANARY),
    never: new RegExp(`${CANARY}|credentials$`, "m"),
  },
  {
    id: "SHELL-01 files outside, by any program",
    command:
      `cat $OUT/secret.txt; cat < $OUT/secret.txt; python3 -c "print(open('$OUT/secret.txt').read())"; perl -pe1 $OUT/secret.txt; ` +
      "/lib64/ld-linux-x86-64.so.2 /bin/cat $OUT/secret.txt; ln -s $OUT/secret.txt l; cat l; cp -r $OUT copy; cat copy/*; rm -rf l copy",
    breach: new RegExp(CANARY),
    never: new RegExp(CANARY),
  },
  {
    id: "files outside, written",
    command:
      "echo x > $OUT/new; echo x >> $OUT/secret.txt; rm -f $OUT/secret.txt; mkdir $OUT/d; mv $OUT/secret.txt .; ls $OUT",
    never: /^(new|d)$/m,
    shows: /Permission denied/,
  },
  {
    id: "SHELL-03 a socket of another service",
    command:
      `python3 -c "import socket;s=socket.socket(socket.AF_UNIX);s.connect('$OUT/service.sock');print(s.recv(99))"`,
    breach: /service here/,
    never: /service here/,
    shows: /Operation not permitted/,
  },
  {
    id: "SHELL-07 processes outside",
    command:
      'kill -STOP $VICTIM && echo STOPPED; python3 -c "import os;os.kill($VICTIM,9)"; kill -0 $VICTIM && echo SEEN',
    never: /STOPPED|SEEN/,
    shows: /not permitted[^]*PermissionError/i,
  },
  {
    id: "SHELL-21 the program itself",
    command: "echo '// written' >> $PROGRAM/mod.ts; cp /bin/sh $PROGRAM/plugins/sh; touch $PROGRAM/core/x; echo tried",
    shows: /Permission denied[^]*tried/,
  },
  {
    id: "SHELL-23 capabilities and mounts",
    command:
      "grep -E 'CapEff|CapAmb|CapPrm' /proc/self/status; mount -o remount,rw,bind /; unshare -Ur id -u; umount -l /",
    never: /Cap\w+:\s+0*[1-9a-f][0-9a-f]*$|^0$/m,
    shows: /CapEff:\s+0+$/m,
  },
  {
    id: "NET-01 TCP",
    command:
      "curl -m 3 -s http://127.0.0.1:$SINK/; wget -t 1 -T 3 -qO- http://127.0.0.1:$SINK; exec 3<>/dev/tcp/127.0.0.1/$SINK && cat <&3; " +
      `python3 -c "import socket;print(socket.create_connection(('127.0.0.1',$SINK),2).recv(9))"`,
    breach: /sink/,
    never: /sink/,
  },
  {
    id: "NET-03 fast open, UDP",
    command:
      `python3 -c "import socket;s=socket.socket();s.sendto(b'hi',0x20000000,('127.0.0.1',$SINK));print(s.recv(9))"; ` +
      `python3 -c "import socket;s=socket.socket(2,2);s.sendto(b'hi',('127.0.0.1',$SINK));print('sent')"`,
    breach: /sink|sent/,
    never: /sink|sent/,
  },
];

describe.if(hasFence)("behind the fence bash is held from", () => {
  let shell: Shell;
  let variables: { [name: string]: string };
  const sink = openSink();
  const victim = Bun.spawn(["sleep", "600"]);
  let service: ReturnType<typeof Bun.listen>;

  beforeAll(async () => {
    const secrets = { ANTHROPIC_API_KEY: KEY, AWS_SECRET_ACCESS_KEY: CANARY, SSH_AUTH_SOCK: "/x", LD_NONE: "x" };
    shell = await openShell({ env: { ...secrets, DBUS_SESSION_BUS_ADDRESS: "unix:path=/x" } });
    const out = join(shell.temp.top, "out");
    await mkdir(out);
    await writeFile(join(out, "secret.txt"), `${CANARY}\n`, { mode: 0o600 });
    for (const path of [".ssh/id_rsa", ".netrc", ".aws/credentials"]) {
      await mkdir(join(shell.home, path, ".."), { recursive: true });
      await writeFile(join(shell.home, path), CANARY);
    }
    service = Bun.listen({
      unix: join(out, "service.sock"),
      socket: { open: (socket) => void socket.end("service here"), data() {} },
    });
    variables = { OUT: out, SINK: String(sink.port), VICTIM: String(victim.pid), FH: shell.home, PROGRAM: SOURCES };
  });
  afterAll(async () => {
    sink.close();
    service.stop(true);
    victim.kill("SIGKILL");
    await shell[Symbol.asyncDispose]();
  });

  /** The names are replaced, not exported: a variable would be one more thing to hold back. */
  const withNames = (command: string) =>
    command.replace(/\$(OUT|SINK|VICTIM|FH|PROGRAM)\b/g, (_, name: string) => variables[name] ?? "");

  // Below ABI 6 signals are not held, and the start line says so.
  const held = ATTACKS.filter(({ id }) => fence.landlock_abi >= 6 || !id.startsWith("SHELL-07"));

  test.each(held)("$id", async ({ command, breach, never, shows }) => {
    if (breach) expect(await shell.outside(withNames(command))).toMatch(breach);
    const before = sink.contacts.length;
    const { content } = await shell.bash(withNames(command), 30);
    if (never) expect(content).not.toMatch(never);
    if (shows) expect(content).toMatch(shows);
    expect(sink.contacts.length).toBe(before);
    expect(await readFile(join(variables["OUT"]!, "secret.txt"), "utf8")).toBe(`${CANARY}\n`);
    expect(await readFile(join(SOURCES, "mod.ts"), "utf8")).not.toContain("// written");
    expect([existsSync(join(SOURCES, "plugins", "sh")), existsSync(join(SOURCES, "core", "x"))]).toEqual([
      false,
      false,
    ]);
    expect(victim.exitCode).toBe(null);
  });

  test("SHELL-11 programs that lie in the workspace under the names of others", async () => {
    const fake = "#!/bin/sh\ntouch ran\n";
    await using own = await openShell({ env: { PATH: `.:bin:${SOURCES}/nowhere:/usr/bin:/bin` } });
    await own.temp.sh(
      `mkdir bin; for n in bash sh env ls; do printf '${
        fake.replaceAll("\n", "\\n")
      }' > bin/$n; cp bin/$n $n; done; chmod +x bin/* bash sh env ls`,
    );
    expect((await own.bash("env | grep ^PATH; ls ran")).content).toContain("No such file");
  });
});

/** What has to succeed in a workspace, where the program is there. */
const WORK: { id: string; needs: string; command: string; says: RegExp; seconds?: number }[] = [
  {
    id: "git, with the user's name",
    needs: "git",
    command:
      "git init -q . && echo x > a && git add a && git commit -qm one && git log --format='%an <%ae>' && git status --short",
    says: /^Ada Lovelace <ada@example\.org>\n\[exit code 0/,
  },
  {
    id: "scripts of npm with node",
    needs: "npm",
    command: `echo '{"scripts":{"t":"node -e \\"console.log(6*7)\\""}}' > package.json && npm run -s t`,
    says: /^42\n\[exit code 0/,
  },
  {
    id: "a virtual environment of python",
    needs: "python3",
    command: "python3 -m venv --without-pip v && v/bin/python -c 'print(6*7)'",
    says: /^42\n\[exit code 0/,
  },
  {
    id: "gcc and make, and what they built",
    needs: "gcc",
    command: "echo 'int main(){return 42;}' > m.c; printf 'm: m.c\\n\\tgcc -o m m.c\\n' > Makefile; make -s && ./m",
    says: /^\[exit code 42/,
  },
  {
    id: "a pipe, a substitution, a temporary file",
    needs: "bash",
    command: "f=$(mktemp) && sort <(printf 'b\\na\\n') > $f && cat $f",
    says: /^a\nb\n\[exit code 0/,
  },
  {
    id: "a pager that is not there to be asked",
    needs: "git",
    command: "git log | cat; git -c core.pager=less log --oneline",
    says: /one\n\[exit code 0/,
  },
];

describe.if(hasFence)("behind the fence bash can use", () => {
  let shell: Shell;
  beforeAll(async () => {
    shell = await openShell();
    await writeFile(join(shell.home, ".gitconfig"), "[user]\n\tname = Ada Lovelace\n\temail = ada@example.org\n");
  });
  afterAll(() => shell[Symbol.asyncDispose]());

  test.each(WORK)("$id", async ({ needs, command, says }) => {
    if (Bun.which(needs, { PATH: "/usr/bin:/bin" }) === null) return;
    expect((await shell.bash(command)).content).toMatch(says);
  });

  test("the toolchains of the home folder, and none of its logins", async () => {
    const home = homedir();
    const tools = ["cargo", "python3", "rustc", "go", "node", "deno"].flatMap((name) => Bun.which(name) ?? [])
      .filter((path) => path.startsWith(`${home}/`) && !path.includes("/node_modules/"));
    await using own = await openShell({ home, env: { PATH: process.env["PATH"] ?? "" } });
    for (const tool of tools) {
      expect((await own.bash(`${tool} --version || ${tool} version`)).content).toMatch(/\d+\.\d+[^]*\[exit code 0/);
    }
    const { content } = await own.bash(
      `ls -A ${home}; ls ${home}/.ssh; cat ${home}/.gitconfig ${home}/.npmrc ${home}/.cargo/env`,
    );
    expect(content).toMatch(/^ls: cannot open directory '[^']*': Permission denied/);
    expect(content).not.toMatch(/email/);
  });

  test("no host without --allow-net=shell, and any host with it", async () => {
    const sink = openSink();
    const command = `curl -s -m 3 --http0.9 http://127.0.0.1:${sink.port}/; python3 - <<'E'
import socket
for kind in (socket.AF_UNIX, socket.AF_NETLINK, socket.AF_PACKET):
    try: socket.socket(kind, socket.SOCK_RAW); print("MADE", kind)
    except OSError as error: pass
E`;
    expect((await shell.bash(command)).content).not.toContain("sink");
    expect(sink.contacts).toEqual([]);
    await using open = await openShell({ flags: ["--allow-net=shell"] });
    const { content } = await open.bash(command);
    sink.close();
    expect(content).toContain("sink");
    expect(content).not.toContain("MADE");
    expect((await open.bash("(python3 -m http.server 0 --bind 127.0.0.1 > log 2>&1 &) ; sleep 0.5; cat log")).content)
      .toMatch(/exit code 0/);
  });

  test("the variables that the user let through", async () => {
    await using own = await openShell({
      flags: ["--allow-env=CC"],
      env: { CC: "clang", NODE_OPTIONS: "--x", DD: "1" },
    });
    expect((await own.bash("echo $CC-$NODE_OPTIONS-$DD")).content).toMatch(/^clang--\n/);
  });
});
