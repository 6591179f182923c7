import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { includes, KINDS } from "../core/permissions/permission_flags.ts";
import { decide, grantFor, isOffered, kindsOf, permissionSet } from "../core/permissions/permissions.ts";
import type { Grant } from "../core/files/grant.ts";
import { isInside } from "../core/path.ts";
import { describePolicy, isExcepted, makePolicy, type Policy } from "../core/permissions/policy.ts";
import type { Permissions } from "../core/tool.ts";
import { anyFlags, flagsOf, HOST_PROBES, NAME_PROBES, PLACE } from "./support/flags.ts";

const READ: Permissions = { read: true };
const WRITE: Permissions = { read: true, write: true };
const RUN: Permissions = { read: true, write: true, run: true };

function policyOf(...argv: string[]): Policy {
  return makePolicy(flagsOf(argv).flags, PLACE);
}

const described: [string[], string][] = [
  [[], "read: the workspace · write: asks · run: asks · net: asks · env: asks"],
  [
    ["--no-prompt"],
    "read: the workspace · write: none (nobody can be asked) · run: none (nobody can be asked) · net: none (nobody can be asked)",
  ],
  [
    ["--allow-write", "--allow-run"],
    "read: the workspace · write: the workspace · run: every program · net: asks · env: asks",
  ],
  [["--deny-read", "--deny-write", "--deny-run"], "read: none · write: none · run: none · net: asks · env: asks"],
  [["--allow-read=.,/out,src"], "read: the workspace, /out, src · write: asks · run: asks · net: asks · env: asks"],
  [
    ["--deny-read=secret", "--deny-write=.git"],
    "read: the workspace, not secret · write: asks, not .git · run: asks · net: asks · env: asks",
  ],
  [
    ["--allow-run=git,npm", "--deny-run=rm"],
    "read: the workspace · write: asks · run: git, npm, asks for others, not rm · net: asks · env: asks",
  ],
  [
    ["--allow-run=git", "--no-prompt", "--deny-write", "--deny-net=a.com"],
    "read: the workspace · write: none · run: git · net: none (nobody can be asked)",
  ],
  [
    ["--allow-net=shell"],
    "read: the workspace · write: asks · run: asks · net: asks, commands reach any host · env: asks",
  ],
  [
    ["--allow-net=shell,a.com", "--allow-env=CI"],
    "read: the workspace · write: asks · run: asks · net: a.com:443, asks for others, commands reach any host · env: CI, asks for others",
  ],
  [["--allow-read=a\u202eb"], "read: a\\u{202e}b · write: asks · run: asks · net: asks · env: asks"],
  [
    ["--deny-net=a.com", "--deny-env=CI"],
    "read: the workspace · write: asks · run: asks · net: asks, not a.com:443 · env: asks, not CI",
  ],
  [["--deny-net", "--deny-env"], "read: the workspace · write: asks · run: asks · net: none"],
  [
    ["--allow-net=shell", "--no-prompt", "--allow-write", "--allow-env=CI"],
    "read: the workspace · write: the workspace · run: none (nobody can be asked) · net: commands reach any host · env: CI",
  ],
  [
    ["--allow-net=a.com", "--no-prompt", "--deny-write", "--deny-run"],
    "read: the workspace · write: none · run: none · net: a.com:443",
  ],
];
test.each(described)("describePolicy with %j says %j", (argv, text) => {
  expect(describePolicy(policyOf(...argv))).toBe(text);
});

const made: [string, string[], Partial<Policy>][] = [
  ["takes what a deny flag covers out of the scope", ["--allow-read=a,b/c,d", "--deny-read=b"], {
    read: { state: "allow", scope: ["/ws/a", "/ws/d"], except: ["/ws/b"] },
  }],
  ["denies a kind of which nothing is left", ["--allow-write=out", "--deny-write=out"], {
    write: { state: "deny", scope: [], except: ["/ws/out"], by: "flag" },
  }],
  ["denies what would be asked for when the workspace is denied", ["--deny-write=/"], {
    write: { state: "deny", scope: [], except: ["/"], by: "flag" },
  }],
  ["keeps a twin that shares the prefix of a denied folder", ["--allow-read=/ws-secret,.", "--deny-read=/ws"], {
    read: { state: "allow", scope: ["/ws-secret"], except: ["/ws"] },
  }],
  ["keeps a file that is named beside its folder", ["--allow-read=.,.env"], {
    read: { state: "allow", scope: ["/ws", "/ws/.env"], except: [] },
  }],
  ["counts two spellings of a path once", ["--allow-read=a,./a/,/ws/a"], {
    read: { state: "allow", scope: ["/ws/a"], except: [] },
  }],
  ["asks for programs again when each allowed one is denied", ["--allow-run=rm", "--deny-run=rm"], {
    run: { state: "ask", scope: true, except: ["rm"] },
  }],
  ["takes a denied program out under any folder", ["--allow-run=/bin/rm,git", "--deny-run=rm"], {
    run: { state: "allow", scope: ["git"], except: ["rm"] },
  }],
  ["never takes shell for a host", ["--allow-net=shell"], {
    net: { state: "ask", scope: [], except: [] },
    shellNet: true,
  }],
  ["denies commands the network with every deny of net", ["--allow-net=shell,a.com", "--deny-net=shell"], {
    net: { state: "allow", scope: ["a.com:443"], except: [] },
    shellNet: false,
  }],
  ["denies a variable in whatever case", ["--allow-env=Path,CI", "--deny-env=PATH"], {
    env: { state: "allow", scope: ["CI"], except: ["PATH"] },
  }],
];
test.each(made)("makePolicy %s", (_, argv, part) => {
  expect(policyOf(...argv)).toMatchObject(part);
});

test("makePolicy is plain JSON", () => {
  const policy = policyOf("--allow-run", "--deny-write", "--allow-net=shell,a.com:80");
  expect(JSON.parse(JSON.stringify(policy))).toEqual(policy);
});

const NOBODY = "and nobody can be asked here";
/** The last column: the state, or the reason for which it is denied. */
const decided: [string[], Permissions, string][] = [
  [[], {}, "allow"],
  [[], READ, "allow"],
  [[], WRITE, "ask"],
  [[], RUN, "ask"],
  [["--allow-write"], WRITE, "allow"],
  [["--allow-write"], RUN, "ask"],
  [["--allow-write", "--allow-run"], RUN, "allow"],
  [["--allow-run=git"], { run: true }, "ask"],
  [["--allow-run", "--deny-run=rm"], { run: true }, "ask"],
  [["--no-prompt"], READ, "allow"],
  [["--no-prompt"], WRITE, `Not run: write needs --allow-write, ${NOBODY}`],
  [["--no-prompt"], RUN, `Not run: write and run need --allow-write and --allow-run, ${NOBODY}`],
  [["--no-prompt", "--allow-write"], RUN, `Not run: run needs --allow-run, ${NOBODY}`],
  [
    ["--no-prompt", "--allow-run=git,npm"],
    { run: true },
    `Not run: run needs --allow-run for more than git, npm, ${NOBODY}`,
  ],
  [
    ["--no-prompt", "--allow-run", "--deny-run=rm"],
    { run: true },
    `Not run: run needs --allow-run without --deny-run=rm, ${NOBODY}`,
  ],
  [["--deny-read"], READ, "Not run: read is denied here by --deny-read"],
  [["--deny-write"], WRITE, "Not run: write is denied here by --deny-write"],
  [["--allow-write", "--deny-write"], WRITE, "Not run: write is denied here by --deny-write"],
  [["--deny-write=."], WRITE, "Not run: write is denied here by --deny-write"],
  [["--deny-write=a"], WRITE, "ask"],
  [
    ["--deny-run", "--no-prompt"],
    RUN,
    `Not run: run is denied here by --deny-run; write needs --allow-write, ${NOBODY}`,
  ],
  [[], { net: ["a.com:443"] }, "ask"],
  [["--no-prompt"], { net: ["a.com"] }, `Not run: net needs --allow-net=a.com:443, ${NOBODY}`],
  [["--allow-net=a.com"], { net: ["A.com:443"] }, "allow"],
  [["--allow-net=a.com", "--no-prompt"], { net: ["A.com:443"] }, "allow"],
  [["--allow-net=a.com"], { net: ["a.com:80"] }, "ask"],
  [["--allow-net=a.com", "--no-prompt"], { net: ["a.com:80"] }, `Not run: net needs --allow-net=a.com:80, ${NOBODY}`],
  [["--allow-net=a.com"], { net: ["b.a.com:443"] }, "ask"],
  [["--allow-net=a.com"], { net: ["a.com", "b.com"] }, "ask"],
  [
    ["--allow-net=a.com", "--no-prompt"],
    { net: ["a.com", "b.com", "c.com", "B.com"] },
    `Not run: net needs --allow-net=b.com:443,c.com:443, ${NOBODY}`,
  ],
  [
    [],
    { net: ["a.com\0"] },
    'Not run: net of "a.com\\u{0}" is never granted: it holds a space or an invisible character. Give "host:port", as in example.com:443',
  ],
  [
    ["--allow-net=a.com"],
    { net: ["a.com", "*.com"] },
    'Not run: net of "*.com" is never granted: a wildcard lets in hosts that nobody named. Name each host',
  ],
  [["--allow-net=shell"], { net: ["shell"] }, "ask"],
  [["--allow-net=shell", "--no-prompt"], { net: ["shell"] }, `Not run: net needs --allow-net=shell:443, ${NOBODY}`],
  [["--deny-net=a.com"], { net: ["a.com"] }, "Not run: net is denied here by --deny-net=a.com:443"],
  [["--deny-net=a.com"], { net: ["b.com", "a.com"] }, "Not run: net is denied here by --deny-net=a.com:443"],
  [["--deny-net=a.com"], { net: ["b.com"] }, "ask"],
  [["--deny-net"], { net: ["a.com"] }, "Not run: net is denied here by --deny-net"],
  [["--allow-net=a.com"], { net: [] }, "allow"],
  [[], { env: ["CI"] }, "ask"],
  [["--no-prompt"], { env: ["CI", "B"] }, `Not run: env needs --allow-env=CI,B, ${NOBODY}`],
  [["--allow-env=CI"], { env: ["CI"] }, "allow"],
  [["--allow-env=CI"], { env: ["ci"] }, "ask"],
  [["--allow-env=CI", "--deny-env=ci"], { env: ["CI"] }, "Not run: env is denied here by --deny-env=CI"],
  [
    [],
    { env: ["CI", "ANTHROPIC_API_KEY"] },
    'Not run: env of "ANTHROPIC_API_KEY" is never granted: no tool ever gets this variable. Leave it out',
  ],
  [
    [],
    { env: ["Ld_Preload"] },
    'Not run: env of "Ld_Preload" is never granted: no tool ever gets this variable. Leave it out',
  ],
  [
    [],
    { env: ["*"] },
    'Not run: env of "*" is never granted: a variable is named in full, not by a pattern. Name each one',
  ],
  [["--allow-net=a.com"], { net: ["a.com"], env: ["CI"] }, "ask"],
  [
    ["--no-prompt"],
    { write: true, net: ["a.com"], env: ["CI"] },
    `Not run: write and net and env need --allow-write and --allow-net=a.com:443 and --allow-env=CI, ${NOBODY}`,
  ],
];
test.each(decided)("decide under %j for %j: %s", (argv, needs, answer) => {
  const { state, kinds, reason } = decide(policyOf(...argv), needs);
  expect(reason ?? state).toBe(answer);
  expect(reason !== undefined).toBe(state === "deny");
  expect(Object.keys(kinds)).toEqual(kindsOf(needs));
});

const asked: [string[], Permissions, { net: string[]; env: string[] }][] = [
  [[], { net: ["A.com", "a.com:443", "b.com:80"], env: ["CI", "CI"] }, { net: ["a.com:443", "b.com:80"], env: ["CI"] }],
  [["--allow-net=a.com", "--allow-env=CI"], { net: ["a.com", "b.com:80"], env: ["CI"] }, {
    net: ["b.com:80"],
    env: [],
  }],
  [["--allow-net=b.com"], { read: true, write: true }, { net: [], env: [] }],
];
test.each(asked)("decide under %j for %j asks for %j", (argv, needs, items) => {
  expect(decide(policyOf(...argv), needs).asked).toEqual(items);
});

const UNTOLD =
  "Not run: it cannot be told what this call starts, and --deny-run=rm holds here. Use a command of one program with plain words";
const programs: [string[], string[], string][] = [
  [["--allow-run=git"], ["git"], "allow"],
  [["--allow-run=git"], ["git", "rm"], "ask"],
  [["--allow-run=git"], ["./git"], "ask"],
  [["--allow-run=git"], ["gi"], "ask"],
  [["--allow-run=git"], [], "ask"],
  [["--allow-run=./build.sh"], ["./build.sh"], "allow"],
  [["--allow-run", "--deny-run=rm"], ["git"], "allow"],
  [["--allow-run", "--deny-run=rm"], [], UNTOLD],
  [["--deny-run=rm"], [], UNTOLD],
  [
    ["--allow-run=git", "--no-prompt"],
    [],
    `Not run: run needs --allow-run for more than git, ${NOBODY} (it cannot be told what this call starts. Use a command of one program with plain words)`,
  ],
  [["--allow-run=git", "--no-prompt"], ["rm"], `Not run: run needs --allow-run for more than git, ${NOBODY}`],
  [["--allow-run", "--deny-run=rm"], ["git", "/bin/rm"], "Not run: /bin/rm is denied here by --deny-run"],
  [["--deny-run=rm"], ["rm"], "Not run: rm is denied here by --deny-run"],
  [["--deny-run=rm"], ["git"], "ask"],
  [["--allow-run=git", "--no-prompt"], ["git"], "allow"],
];
test.each(programs)("decide under %j for the programs %j: %s", (argv, names, answer) => {
  const { state, kinds, reason } = decide(policyOf(...argv), { run: true }, names);
  expect(reason ?? state).toBe(answer);
  expect(kinds).toEqual({ run: state });
});

const offered: [string[], Permissions, boolean][] = [
  [[], RUN, true],
  [["--no-prompt"], RUN, true],
  [["--deny-run"], RUN, false],
  [["--deny-run"], WRITE, true],
  [["--deny-write=."], WRITE, false],
  [["--deny-write=a"], WRITE, true],
  [["--deny-run=rm"], RUN, true],
  [[], { net: ["a.com"] }, true],
  [["--no-prompt"], { net: ["a.com"], env: ["CI"] }, true],
  [["--allow-net=b.com"], { net: ["a.com"] }, true],
  [["--deny-net=a.com:443"], { net: ["A.com"] }, false],
  [["--deny-net=b.com:443"], { net: ["a.com"] }, true],
  [["--deny-net"], { net: ["a.com"] }, false],
  [["--deny-env=CI"], { env: ["CI"] }, false],
];
test.each(offered)("isOffered under %j for %j: %p", (argv, needs, is) => {
  expect(isOffered(policyOf(...argv), needs)).toBe(is);
});

const sets: [Permissions, string][] = [
  [{}, "none"],
  [READ, "read"],
  [WRITE, "read+write"],
  [{ run: true, write: true, read: true }, "read+write+run"],
  [{ read: true, write: false, net: [] }, "read"],
  [{ net: ["b.com", "A.com:443", "a.com"], read: true, env: ["B", "A"] }, "read+net=a.com:443,b.com:443+env=A,B"],
];
test.each(sets)("permissionSet of %j is %j", (needs, text) => {
  expect(permissionSet(needs)).toBe(text);
});

test("grantFor gives a host what its tools declare and no more", () => {
  const policy = policyOf("--allow-read=.,/out", "--deny-read=secret", "--deny-write=.git");
  const denied = { root: "/ws", denyRead: ["/ws/secret"], denyWrite: ["/ws/.git"] };
  expect(grantFor(policy, READ)).toEqual({ ...denied, read: ["/ws", "/out"], write: [], undeclared: ["write"] });
  expect(grantFor(policy, RUN)).toEqual({ ...denied, read: ["/ws", "/out"], write: ["/ws"] });
  const onlyWrite = { read: [], write: ["/ws"], undeclared: ["read"] };
  expect(grantFor(policy, { write: true })).toEqual({ ...denied, ...onlyWrite } as Grant);
  const onlyRun = { read: [], write: [], undeclared: ["read", "write"] };
  expect(grantFor(policy, { run: true })).toEqual({ ...denied, ...onlyRun } as Grant);
});

describe("grantFor keeps tools from writing to places of tenon's own", () => {
  const rows: [what: string, flags: string[], guarded: string[], denied: string[]][] = [
    ["inside the workspace", ["--allow-write"], ["/ws/plugins", "/ws/tenon"], ["/ws/plugins", "/ws/tenon"]],
    ["beside what a deny flag names", ["--allow-write", "--deny-write=a"], ["/ws/plugins"], ["/ws/a", "/ws/plugins"]],
    ["not outside, where nothing may be written anyhow", ["--allow-write"], ["/home/u/.config/tenon", "/ws-p"], []],
    ["inside a further root", ["--allow-write=.,/out"], ["/out/plugins"], ["/out/plugins"]],
    ["all of the workspace when it lies in one", ["--allow-write"], ["/"], ["/ws"]],
    ["all of the workspace when it is one", ["--allow-write"], ["/ws"], ["/ws"]],
    ["unless a flag names the very place", ["--allow-write=.,plugins"], ["/ws/plugins", "/ws/tenon"], ["/ws/tenon"]],
    ["also where a flag names what lies in it", ["--allow-write=plugins/a"], ["/ws/plugins"], ["/ws/plugins/a"]],
  ];
  test.each(rows)("%s", (_, flags, guarded, denied) => {
    expect(grantFor(policyOf(...flags), WRITE, guarded).denyWrite).toEqual(denied);
  });
});

test("grantFor gives nothing that is denied, or asked for where nobody can be asked", () => {
  expect(grantFor(policyOf("--deny-write"), WRITE)).toMatchObject({ read: ["/ws"], write: [] });
  expect(grantFor(policyOf("--no-prompt"), WRITE)).toMatchObject({ read: ["/ws"], write: [] });
  expect(grantFor(policyOf("--no-prompt", "--allow-write=out"), WRITE)).toMatchObject({ write: ["/ws/out"] });
  expect(grantFor(policyOf("--deny-read"), WRITE)).toMatchObject({ read: [], write: ["/ws"] });
});

const given: [argv: string[], needs: Permissions, net: string[] | undefined, env: string[] | undefined][] = [
  [[], { net: ["A.com:443"], env: ["CI"] }, ["a.com:443"], ["CI"]],
  [["--no-prompt"], { net: ["a.com:443"], env: ["CI"] }, undefined, undefined],
  [["--allow-net=a.com", "--allow-env=CI"], { read: true }, undefined, undefined],
  [["--allow-net=a.com,b.com:80,c.com", "--no-prompt"], { net: ["A.com", "b.com:80", "d.com"] }, [
    "a.com:443",
    "b.com:80",
  ], undefined],
  [["--allow-net=b.com"], { net: ["a.com", "b.com"] }, ["b.com:443", "a.com:443"], undefined],
  [["--allow-net=a.com,b.com", "--deny-net=b.com"], { net: ["a.com", "b.com"] }, ["a.com:443"], undefined],
  [["--deny-net=b.com", "--deny-env=ci"], { net: ["b.com"], env: ["CI"] }, undefined, undefined],
  [["--allow-net=shell", "--no-prompt"], { net: ["a.com", "shell"] }, undefined, undefined],
  [["--allow-net=a.com", "--deny-net", "--deny-env"], { net: ["a.com"], env: ["CI"] }, undefined, undefined],
  [[], { net: ["*.com"], env: ["ANTHROPIC_API_KEY", "NODE_OPTIONS"] }, undefined, undefined],
];
test.each(given)("grantFor with %j gives a tool with %j the hosts %j and the variables %j", (argv, needs, net, env) => {
  const grant = grantFor(policyOf(...argv), needs);
  expect([grant.net, grant.env]).toEqual([net, env]);
});

test("grantFor gives a host no host or variable that decide neither allows nor asks for", () => {
  fc.assert(
    fc.property(anyFlags, anyNeeds, (flags, needs) => {
      const policy = makePolicy(flags, PLACE);
      const grant = grantFor(policy, needs);
      for (const kind of ["net", "env"] as const) {
        const open = (needs[kind] ?? []).filter((item) => decide(policy, { [kind]: [item] }).state !== "deny");
        expect(grant[kind]?.toSorted() ?? []).toEqual(open.toSorted());
      }
    }),
    { numRuns: 300 },
  );
});

const anyNeeds: fc.Arbitrary<Permissions> = fc.record({
  read: fc.boolean(),
  write: fc.boolean(),
  run: fc.boolean(),
  net: fc.uniqueArray(fc.constantFrom(...HOST_PROBES), { maxLength: 2 }),
  env: fc.uniqueArray(fc.constantFrom(...NAME_PROBES), { maxLength: 2 }),
}, { requiredKeys: [] });
const anyPrograms = fc.uniqueArray(fc.constantFrom(...NAME_PROBES), { maxLength: 2 });

test("decide allows a kind only where a flag or the default grants each item and no deny flag names one", () => {
  fc.assert(
    fc.property(anyFlags, anyNeeds, anyPrograms, (flags, needs, programs) => {
      const { allow, deny } = flags;
      const { state, kinds, reason } = decide(makePolicy(flags, PLACE), needs, programs);
      for (const kind of KINDS) {
        if (kinds[kind] !== "allow") continue;
        expect(deny[kind]).not.toBe(true);
        const items = kind === "run" ? programs : kind === "net" || kind === "env" ? needs[kind] ?? [] : [];
        if (kind !== "read") expect(allow[kind]).toBeDefined();
        if (kind === "run" && items.length === 0) expect([allow.run, deny.run]).toEqual([true, undefined]);
        for (const item of items) {
          expect(includes(allow[kind], item)).toBe(true);
          expect(includes(deny[kind] ?? [], item)).toBe(false);
        }
      }
      expect(reason === undefined).toBe(state !== "deny");
      expect(reason ?? "").not.toMatch(/\n/);
      if (!flags.prompt) expect(state).not.toBe("ask");
    }),
    { numRuns: 500 },
  );
});

test("grantFor grants no path that a deny flag covers and none outside the flags", () => {
  fc.assert(
    fc.property(anyFlags, (flags) => {
      const grant = grantFor(makePolicy(flags, PLACE), RUN);
      for (const kind of ["read", "write"] as const) {
        const denied = flags.deny[kind] ?? [];
        const allowed = flags.allow[kind] ?? ["."];
        if (denied === true) expect(grant[kind]).toEqual([]);
        for (const path of grant[kind]) {
          if (denied !== true) expect(denied.some((folder) => isInside(PLACE.resolve(folder), path))).toBe(false);
          expect(allowed === true || allowed.some((item) => PLACE.resolve(item) === path)).toBe(true);
        }
      }
    }),
    { numRuns: 300 },
  );
});

test("a tool that is not offered is never allowed, and one that nobody denies is always offered", () => {
  fc.assert(
    fc.property(anyFlags, anyNeeds, (flags, needs) => {
      const policy = makePolicy(flags, PLACE);
      if (!isOffered(policy, needs)) expect(decide(policy, needs).state).toBe("deny");
      expect(isOffered(makePolicy({ ...flags, deny: {} }, PLACE), needs)).toBe(true);
      expect(isOffered({ ...policy, prompt: !policy.prompt }, needs)).toBe(isOffered(policy, needs));
      for (const item of needs.env ?? []) {
        if (isExcepted(policy.env.except, "env", item)) expect(isOffered(policy, needs)).toBe(false);
      }
    }),
    { numRuns: 300 },
  );
});
