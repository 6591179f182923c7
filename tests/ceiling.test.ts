import { expect, test } from "bun:test";
import fc from "fast-check";
import { narrow } from "../core/permissions/ceiling.ts";
import { type Flags, KINDS } from "../core/permissions/permission_flags.ts";
import { isInside } from "../core/path.ts";
import { decide, grantFor, isOffered } from "../core/permissions/permissions.ts";
import { describePolicy, makePolicy, type Policy } from "../core/permissions/policy.ts";
import { anyFlags, flagsOf, HOST_PROBES, NAME_PROBES, PATH_PROBES, PLACE } from "./support/flags.ts";

function narrowed(built: string[], started: string[]): Flags {
  return narrow(flagsOf(built).flags, flagsOf(started).flags, PLACE);
}

const narrower: [string, string[], string[], { allow?: object; deny?: object; prompt?: boolean }][] = [
  ["takes every flag where the build had none", [], ["--allow-run", "--allow-net=a.com"], {
    allow: { run: true, net: ["a.com:443"] },
  }],
  ["keeps the build's flags when the start has none", ["--allow-read=a", "--deny-write"], [], {
    allow: { read: ["a"] },
    deny: { write: true },
  }],
  ["puts a narrower list in the place of a wider one", ["--allow-read", "--allow-run"], [
    "--allow-read=a",
    "--allow-run=git",
  ], {
    allow: { read: ["a"], run: ["git"] },
  }],
  ["joins what is denied", ["--deny-read=a"], ["--deny-read=b,a", "--deny-net"], {
    deny: { read: ["a", "b"], net: true },
  }],
  ["lets a bare deny swallow a list", ["--deny-read=a"], ["--deny-read"], { deny: { read: true } }],
  ["lets a folder be read that lies in the workspace", ["--deny-run"], ["--allow-read=a"], {
    allow: { read: ["a"] },
    deny: { run: true },
  }],
  ["knows a folder by its place, not by its spelling", ["--allow-read=a"], ["--allow-read=/ws/a/b,a/../a"], {
    allow: { read: ["/ws/a/b", "a/../a"] },
  }],
  ["never asks when the build does not", ["--no-prompt"], ["--allow-write"], {
    allow: { write: ["."] },
    prompt: false,
  }],
  ["never asks when the start does not", ["--allow-write"], ["--no-prompt"], {
    allow: { write: ["."] },
    prompt: false,
  }],
];
test.each(narrower)("narrow %s", (_, built, started, { allow = {}, deny = {}, prompt = true }) => {
  const { most: _most, ...flags } = narrowed(built, started);
  expect(flags).toEqual({ allow, deny, prompt });
});

const mosts: [string[], string[], Flags["most"]][] = [
  [[], ["--allow-net=a.com"], undefined],
  [["--no-prompt"], [], undefined],
  [["--deny-write"], [], { net: [], env: [] }],
  [["--allow-net=a.com,shell,b.com", "--allow-env=CI"], ["--allow-net=a.com"], {
    net: ["a.com:443", "b.com:443"],
    env: ["CI"],
  }],
];
test.each(mosts)("narrow built with %j lets a start with %j ask for %j at most", (built, started, most) => {
  expect(narrowed(built, started).most).toEqual(most as Flags["most"]);
});

/** What a tool with this host is told where somebody can be asked; the last column says what the user is told. */
const hosts: [built: string[], started: string[], host: string, answer: string, described: string][] = [
  [
    ["--no-prompt"],
    [],
    "a.com:443",
    "Not run: net needs --allow-net=a.com:443, and nobody can be asked here",
    "none (nobody can be asked)",
  ],
  [
    ["--deny-write"],
    [],
    "a.com:443",
    "Not run: net needs --allow-net=a.com:443, and this executable was built without it",
    "none (this executable was built without it)",
  ],
  [["--allow-net=a.com"], [], "a.com:443", "allow", "a.com:443"],
  [
    ["--allow-net=a.com"],
    [],
    "b.com:443",
    "Not run: net needs --allow-net=b.com:443, and this executable was built without it",
    "a.com:443",
  ],
  [["--allow-net=a.com,b.com"], ["--allow-net=a.com"], "b.com:443", "ask", "a.com:443, asks for b.com:443"],
  [["--allow-net=a.com,b.com"], ["--deny-net=a.com"], "b.com:443", "allow", "b.com:443, not a.com:443"],
  [
    ["--allow-net=a.com,b.com"],
    ["--allow-net=a.com", "--deny-net=a.com"],
    "b.com:443",
    "ask",
    "asks for b.com:443, not a.com:443",
  ],
  [
    ["--allow-net=shell"],
    [],
    "a.com:443",
    "Not run: net needs --allow-net=a.com:443, and this executable was built without it",
    "commands reach any host",
  ],
];
test.each(hosts)("an executable built with %j and started with %j answers a tool with %s: %s", (...row) => {
  const [built, started, host, answer, described] = row;
  const policy = makePolicy(narrowed(built, started), PLACE);
  const { state, reason } = decide(policy, { net: [host] });
  expect(reason ?? state).toBe(answer);
  expect(describePolicy(policy).split(" · ")[3]).toBe(`net: ${described}`);
  expect(isOffered(policy, { net: [host] })).toBe(true);
  expect(grantFor(policy, { net: [host] }).net).toEqual(state === "deny" ? undefined as unknown as string[] : [host]);
});

const wider: [string[], string, string][] = [
  [["--deny-write"], "--allow-write", "--allow-write is not available: this executable was built with --deny-write"],
  [["--deny-write"], "--allow-write=a", "--allow-write is not available: this executable was built with --deny-write"],
  [["--deny-run"], "--allow-write", "--allow-write is not available: this executable was built without --allow-write"],
  [
    ["--deny-write"],
    "--allow-run=git",
    "--allow-run=git is not available: this executable was built without --allow-run",
  ],
  [
    ["--deny-write"],
    "--allow-net=a.com",
    "--allow-net=a.com:443 is not available: this executable was built without --allow-net",
  ],
  [
    ["--deny-write"],
    "--allow-read=/out",
    "--allow-read=/out is not available: this executable was built without --allow-read",
  ],
  [
    ["--allow-read"],
    "--allow-read=/ws-secret",
    "--allow-read=/ws-secret is not available: this executable was built with --allow-read=.",
  ],
  [
    ["--allow-read"],
    "--allow-read=..",
    "--allow-read=.. is not available: this executable was built with --allow-read=.",
  ],
  [["--allow-read=a"], "--allow-read", "--allow-read is not available: this executable was built with --allow-read=a"],
  [
    ["--allow-read=a"],
    "--allow-read=ab",
    "--allow-read=ab is not available: this executable was built with --allow-read=a",
  ],
  [
    ["--deny-read=a"],
    "--allow-read=a/b",
    "--allow-read=a/b is not available: this executable was built with --deny-read=a",
  ],
  [
    ["--allow-run=git,npm"],
    "--allow-run",
    "--allow-run is not available: this executable was built with --allow-run=git,npm",
  ],
  [
    ["--allow-run=git"],
    "--allow-run=./git",
    "--allow-run=./git is not available: this executable was built with --allow-run=git",
  ],
  [
    ["--allow-run", "--deny-run=rm"],
    "--allow-run=/bin/rm",
    "--allow-run=/bin/rm is not available: this executable was built with --deny-run=rm",
  ],
  [
    ["--allow-net=a.com"],
    "--allow-net=a.com:80",
    "--allow-net=a.com:80 is not available: this executable was built with --allow-net=a.com:443",
  ],
  [
    ["--allow-net=a.com"],
    "--allow-net=shell",
    "--allow-net=shell is not available: this executable was built with --allow-net=a.com:443",
  ],
  [
    ["--allow-env=CI", "--deny-env=Path"],
    "--allow-env=PATH",
    "--allow-env=PATH is not available: this executable was built with --deny-env=Path",
  ],
];
test.each(wider)("narrow built with %j refuses %s", (built, flag, words) => {
  expect(() => narrowed(built, [flag])).toThrow(expect.objectContaining({ message: words, exitCode: 2 }));
});

test("narrow follows a link before it compares", () => {
  const place = { root: "/ws", resolve: (path: string) => path === "link" ? "/out" : PLACE.resolve(path) };
  const ceiling = flagsOf(["--allow-read=."]).flags;
  expect(() => narrow(ceiling, flagsOf(["--allow-read=link"]).flags, place)).toThrow(
    "--allow-read=link is not available",
  );
});

/** Everything that a policy lets a tool have, one line each; `allow` and `ask` told apart. */
function grants(policy: Policy): Set<string> {
  const lines: string[] = [];
  const add = (line: string, state: string) => {
    if (state !== "deny") lines.push(line);
    if (state === "allow") lines.push(`${line} unasked`);
  };
  for (const kind of ["read", "write"] as const) {
    const { state, scope, except } = policy[kind];
    for (const path of PATH_PROBES) {
      const holds = (folders: string[]) => folders.some((folder) => isInside(folder, path));
      if (holds(scope) && !holds(except)) add(`${kind} ${path}`, state);
    }
  }
  for (const name of NAME_PROBES) {
    add(`run ${name}`, decide(policy, { run: true }, [name]).state);
    add(`env ${name}`, decide(policy, { env: [name] }).state);
  }
  add("run", decide(policy, { run: true }).state);
  for (const host of HOST_PROBES) add(`net ${host}`, decide(policy, { net: [host] }).state);
  if (policy.shellNet) lines.push("shell net");
  return new Set(lines);
}

/** Flags that ask for a part of what the ceiling names, folders below its folders too: most of them are narrow enough. */
function partOf({ allow }: Flags): fc.Arbitrary<Flags> {
  const parts = Object.entries(allow).map(([kind, named]) => {
    if (named === true) return [kind, fc.constantFrom<true | string[]>(true, ["git"])];
    const items = kind === "read" || kind === "write" ? named.flatMap((path) => [path, `${path}/b`]) : named;
    return [kind, fc.subarray(items, { minLength: 1 })];
  });
  return anyFlags.chain((flags) =>
    fc.record<Flags["allow"]>(Object.fromEntries(parts), { requiredKeys: [] }).map((allow) => ({ ...flags, allow }))
  );
}

/** A ceiling that denies what it allows leaves nothing to narrow: most of them do not. */
const anyCeiling = fc.tuple(anyFlags, fc.integer({ min: 0, max: 3 })).map(([flags, contradicts]): Flags => {
  const deny = Object.entries(flags.deny).filter(([kind]) => contradicts === 0 || !(kind in flags.allow));
  return { ...flags, deny: Object.fromEntries(deny) };
});
const ceilingAndFlags = anyCeiling.chain((ceiling) =>
  fc.tuple(fc.constant(ceiling), fc.oneof(anyFlags, partOf(ceiling)))
);

test("narrow never grants, nor offers, what the ceiling does not; nor what a flag of the start leaves out", () => {
  let narrowings = 0;
  fc.assert(
    fc.property(ceilingAndFlags, ([ceiling, flags]) => {
      let result: Flags;
      try {
        result = narrow(ceiling, flags, PLACE);
      } catch (error) {
        expect(error).toMatchObject({ exitCode: 2 });
        return;
      }
      narrowings++;
      const policy = makePolicy(result, PLACE);
      const left = grants(policy);
      const isFree = Object.keys(ceiling.allow).length + Object.keys(ceiling.deny).length === 0;
      if (!isFree) {
        const most = makePolicy(ceiling, PLACE);
        const limit = grants(most);
        expect([...left].filter((grant) => !limit.has(grant))).toEqual([]);
        const named = [
          ...(ceiling.allow.net as string[] ?? []).map((host) => `net ${host}`),
          ...(ceiling.allow.env as string[] ?? []).map((name) => `env ${name}`),
        ];
        const asked = [...left].filter((grant) => /^(net|env) /.test(grant) && !grant.endsWith(" unasked"));
        expect(asked.filter((grant) => !named.includes(grant))).toEqual([]);
        for (const kind of ["read", "write", "run"] as const) {
          if (!isOffered(most, { [kind]: true })) expect(isOffered(policy, { [kind]: true })).toBe(false);
        }
      }
      const asked = grants(makePolicy(flags, PLACE));
      const named = KINDS.filter((kind) => flags.allow[kind] !== undefined);
      expect([...left].filter((grant) => named.some((kind) => grant.startsWith(`${kind} `)) && !asked.has(grant)))
        .toEqual([]);
    }),
    { numRuns: 600 },
  );
  expect(narrowings).toBeGreaterThan(100);
});
