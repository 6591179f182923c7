import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { includes, KINDS } from "../core/permissions/permission_flags.ts";
import { decide, grantFor, isOffered, kindsOf, permissionSet } from "../core/permissions/permissions.ts";
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
  [[], "read: the workspace · write: asks · run: asks · net: none"],
  [
    ["--no-prompt"],
    "read: the workspace · write: none (nobody can be asked) · run: none (nobody can be asked) · net: none",
  ],
  [["--allow-write", "--allow-run"], "read: the workspace · write: the workspace · run: every program · net: none"],
  [["--deny-read", "--deny-write", "--deny-run"], "read: none · write: none · run: none · net: none"],
  [["--allow-read=.,/out,src"], "read: the workspace, /out, src · write: asks · run: asks · net: none"],
  [
    ["--deny-read=secret", "--deny-write=.git"],
    "read: the workspace, not secret · write: asks, not .git · run: asks · net: none",
  ],
  [
    ["--allow-run=git,npm", "--deny-run=rm"],
    "read: the workspace · write: asks · run: git, npm, asks for others, not rm · net: none",
  ],
  [["--allow-run=git", "--no-prompt", "--deny-write"], "read: the workspace · write: none · run: git · net: none"],
  [["--allow-net=shell"], "read: the workspace · write: asks · run: asks · net: commands reach any host"],
  [
    ["--allow-net=shell,a.com", "--allow-env=CI"],
    "read: the workspace · write: asks · run: asks · net: a.com:443, commands reach any host · env: CI",
  ],
  [["--allow-read=a\u202eb"], "read: a\\u{202e}b · write: asks · run: asks · net: none"],
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
    net: { state: "deny", scope: [], except: [], by: "default" },
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
  [[], { net: ["a.com:443"] }, "Not run: net needs --allow-net=a.com:443"],
  [["--allow-net=a.com"], { net: ["A.com:443"] }, "allow"],
  [["--allow-net=a.com"], { net: ["a.com:80"] }, "Not run: net needs --allow-net=a.com:80"],
  [["--allow-net=a.com"], { net: ["b.a.com:443"] }, "Not run: net needs --allow-net=b.a.com:443"],
  [["--allow-net=a.com"], { net: ["a.com", "b.com"] }, "Not run: net needs --allow-net=b.com:443"],
  [["--allow-net=a.com"], { net: ["a.com\0"] }, "Not run: net needs --allow-net=a.com\\u{0}"],
  [["--allow-net=shell"], { net: ["shell"] }, "Not run: net needs --allow-net=shell:443"],
  [["--deny-net=a.com"], { net: ["a.com"] }, "Not run: net is denied here by --deny-net=a.com:443"],
  [["--deny-net"], { net: ["a.com"] }, "Not run: net is denied here by --deny-net"],
  [["--allow-net=a.com"], { net: [] }, "allow"],
  [[], { env: ["CI"] }, "Not run: env needs --allow-env=CI"],
  [["--allow-env=CI"], { env: ["CI"] }, "allow"],
  [["--allow-env=CI", "--deny-env=ci"], { env: ["CI"] }, "Not run: env is denied here by --deny-env=CI"],
];
test.each(decided)("decide under %j for %j: %s", (argv, needs, answer) => {
  const { state, kinds, reason } = decide(policyOf(...argv), needs);
  expect(reason ?? state).toBe(answer);
  expect(reason !== undefined).toBe(state === "deny");
  expect(Object.keys(kinds)).toEqual(kindsOf(needs));
});

const UNTOLD =
  "Not run: it cannot be told what this command starts, and --deny-run=rm holds here. Use one program with plain words";
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
    `Not run: run needs --allow-run for more than git, ${NOBODY} (it cannot be told what this command starts. Use one program with plain words)`,
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
  expect(grantFor(policy, READ)).toEqual({ ...denied, read: ["/ws", "/out"], write: [] });
  expect(grantFor(policy, RUN)).toEqual({ ...denied, read: ["/ws", "/out"], write: ["/ws"] });
  expect(grantFor(policy, { write: true })).toEqual({ ...denied, read: [], write: ["/ws"] });
  expect(grantFor(policy, { run: true })).toEqual({ ...denied, read: [], write: [] });
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

const fetched: [argv: string[], needs: Permissions, net: string[] | undefined][] = [
  [[], { net: ["a.com:443"] }, undefined],
  [["--allow-net=a.com"], { read: true }, undefined],
  [["--allow-net=a.com,b.com:80,c.com"], { net: ["A.com", "b.com:80", "d.com"] }, ["a.com:443", "b.com:80"]],
  [["--allow-net=a.com,b.com", "--deny-net=b.com"], { net: ["a.com", "b.com"] }, ["a.com:443"]],
  [["--allow-net=shell"], { net: ["a.com", "shell"] }, undefined],
  [["--allow-net=a.com", "--deny-net"], { net: ["a.com"] }, undefined],
];
test.each(fetched)("grantFor with %j lets a tool with %j fetch from %j", (argv, needs, net) => {
  expect(grantFor(policyOf(...argv), needs).net).toEqual(net as string[]);
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
