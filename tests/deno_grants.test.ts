import { expect, test } from "bun:test";
import fc from "fast-check";
import { cutWithDeno, type DenoQuery } from "../core/permissions/deno_grants.ts";
import { decide, grantFor, isOffered } from "../core/permissions/permissions.ts";
import { isInside } from "../core/path.ts";
import { describePolicy, makePolicy } from "../core/permissions/policy.ts";
import type { Permissions } from "../core/tool.ts";
import { anyFlags, flagsOf, HOST_PROBES, NAME_PROBES, PLACE } from "./support/flags.ts";

const SHELLS = ["bash", "sh"];

/** Deno as it was started with these lists; `true` is a flag without a value. */
interface Granted {
  read?: string[];
  write?: string[];
  run?: true | string[];
  net?: string[];
  env?: string[];
  denyRead?: string[];
}

function denoWith({ read = [], write = [], run = [], net = [], env = [], denyRead = [] }: Granted): DenoQuery {
  return (descriptor) => {
    const within = (folders: string[], path: string) => folders.some((folder) => isInside(folder, path));
    const yes = (is: boolean) => is ? "granted" : "prompt";
    switch (descriptor.name) {
      case "read":
        return within(denyRead, descriptor.path) ? "denied" : yes(within(read, descriptor.path));
      case "write":
        return yes(within(write, descriptor.path));
      case "run":
        return yes(run === true || descriptor.command !== undefined && run.includes(descriptor.command));
      case "net":
        return yes(net.includes(descriptor.host));
      case "env":
        return yes(env.includes(descriptor.variable));
    }
  };
}

const cuts: [string, string[], Granted, object, string[]][] = [
  ["leaves everything that Deno grants", ["--allow-write", "--allow-run"], { read: ["/ws"], write: ["/"], run: true }, {
    read: { state: "allow", scope: ["/ws"], except: [] },
    write: { state: "allow", scope: ["/ws"], except: [] },
    run: { state: "allow", scope: true, except: [] },
  }, []],
  ["turns off what Deno would ask for", [], {}, {
    read: { state: "deny", scope: [], except: [], by: "deno" },
    write: { state: "deny", scope: [], except: [], by: "deno" },
    run: { state: "deny", scope: [], except: [], by: "deno" },
  }, [
    "read of the workspace: Deno has no --allow-read for it; start with deno run --allow-read=/ws",
    "write to the workspace: Deno has no --allow-write for it; start with deno run --allow-write=/ws",
    "start of programs: Deno has no --allow-run for it; start with deno run --allow-run=bash,sh; " +
    "add --allow-run after mod.ts as well, since nothing confines programs here",
  ]],
  ["names Deno's flag alone where tenon's own is there", ["--allow-run", "--deny-write"], { read: ["/ws"] }, {
    run: { state: "deny", scope: [], except: [], by: "deno" },
  }, ["start of programs: Deno has no --allow-run for it; start with deno run --allow-run=bash,sh"]],
  ["turns off what Deno denies", ["--deny-write", "--deny-run"], { read: ["/"], denyRead: ["/ws"] }, {
    read: { state: "deny", scope: [], except: [], by: "deno" },
  }, ["read of the workspace: Deno has a --deny-read for it; start deno run without it"]],
  ["keeps the folders that are left", ["--allow-read=a,/out,x y", "--deny-write", "--deny-run"], { read: ["/ws"] }, {
    read: { state: "allow", scope: ["/ws/a", "/ws/x y"], except: [], by: "deno" },
  }, ["read of /out: Deno has no --allow-read for it; start with deno run --allow-read=/out"]],
  ["lets programs be asked for where a shell is granted", [], { read: ["/ws"], write: ["/ws"], run: ["sh"] }, {
    run: { state: "ask", scope: true, except: [] },
  }, []],
  ["leaves the allowed programs to a shell that is granted", ["--allow-run=git", "--deny-write"], {
    read: ["/ws"],
    run: ["bash"],
  }, {
    run: { state: "allow", scope: ["git"], except: [] },
  }, []],
  ["keeps the allowed programs that Deno names", ["--allow-run=git,npm", "--deny-write"], {
    read: ["/ws"],
    run: ["npm"],
  }, {
    run: { state: "allow", scope: ["npm"], except: [] },
  }, ["start of git: Deno has no --allow-run for it; start with deno run --allow-run=git"]],
  ["cuts hosts and variables", ["--allow-net=a.com,b.com", "--allow-env=CI", "--deny-write", "--deny-run"], {
    read: ["/ws"],
    net: ["b.com:443"],
  }, {
    net: { state: "allow", scope: ["b.com:443"], except: [] },
    env: { state: "ask", scope: [], except: [] },
  }, [
    "net to a.com:443: Deno has no --allow-net for it; start with deno run --allow-net=a.com:443",
    "variable CI: Deno has no --allow-env for it; start with deno run --allow-env=CI",
  ]],
  ["asks Deno nothing about what a flag denies", ["--deny-read", "--deny-write", "--deny-run"], {}, {
    read: { state: "deny", scope: [], except: [], by: "flag" },
  }, []],
];
test.each(cuts)("cutWithDeno %s", (_, argv, granted, rules, lines) => {
  const { policy, missing } = cutWithDeno(makePolicy(flagsOf(argv).flags, PLACE), denoWith(granted), SHELLS);
  expect(policy).toMatchObject(rules);
  for (const [kind, rule] of Object.entries(rules)) expect(policy[kind as "read"]).toEqual(rule);
  expect(missing.map(({ feature, reason }) => `${feature}: ${reason}`)).toEqual(lines);
  for (const { reason, flag } of missing) expect(reason).toContain(flag);
});

test("cutWithDeno doubles a comma in a path, as Deno's flags want it", () => {
  const policy = makePolicy(flagsOf(["--deny-write", "--deny-run"]).flags, { root: "/a,b", resolve: () => "/a,b" });
  expect(cutWithDeno(policy, denoWith({}), SHELLS).missing.map(({ flag }) => flag)).toEqual(["--allow-read=/a,,b"]);
});

test("the reason of a call that Deno does not grant names Deno's flag", () => {
  const { policy } = cutWithDeno(makePolicy(flagsOf(["--allow-net=a.com"]).flags, PLACE), denoWith({}), SHELLS);
  expect(decide(policy, { read: true }).reason).toBe("Not run: read needs Deno's --allow-read");
  expect(decide(policy, { run: true }).reason).toBe(
    "Not run: run needs Deno's --allow-run before mod.ts, and tenon's own after it",
  );
  expect(decide(policy, { net: ["a.com"] }).reason).toBe("Not run: net needs Deno's --allow-net=a.com:443");
});

/** The last column: the state, or the reason for which it is denied. */
const lists: [argv: string[], granted: Granted, needs: Permissions, answer: string][] = [
  [[], { net: ["a.com:443"] }, { net: ["A.com"] }, "ask"],
  [["--allow-net=a.com"], { net: ["a.com:443", "b.com:443"] }, { net: ["a.com", "b.com"] }, "ask"],
  [["--allow-net=a.com"], { net: ["a.com:443"] }, { net: ["a.com"] }, "allow"],
  [[], { net: ["a.com:443"] }, { net: ["a.com", "b.com"] }, "Not run: net needs Deno's --allow-net=b.com:443"],
  [["--no-prompt"], {}, { net: ["b.com"] }, "Not run: net needs Deno's --allow-net=b.com:443"],
  [
    ["--no-prompt"],
    { net: ["b.com:443"] },
    { net: ["b.com"] },
    "Not run: net needs --allow-net=b.com:443, and nobody can be asked here",
  ],
  [[], { env: ["CI"] }, { env: ["CI"] }, "ask"],
  [[], {}, { env: ["CI"] }, "Not run: env needs Deno's --allow-env=CI"],
  [
    [],
    { env: ["ANTHROPIC_API_KEY"] },
    { env: ["ANTHROPIC_API_KEY"] },
    'Not run: env of "ANTHROPIC_API_KEY" is never granted: no tool ever gets this variable. Leave it out',
  ],
];
test.each(lists)("with %j, and Deno with %j, a tool with %j: %s", (argv, granted, needs, answer) => {
  const { policy } = cutWithDeno(makePolicy(flagsOf(argv).flags, PLACE), denoWith(granted), SHELLS);
  const { state, reason } = decide(policy, needs);
  expect(reason ?? state).toBe(answer);
  const { net = [], env = [] } = grantFor(policy, needs);
  expect([...net, ...env].every((item) => granted.net?.includes(item) || granted.env?.includes(item))).toBe(true);
});

test("Deno is asked only about what is an address or a variable", () => {
  const { policy } = cutWithDeno(makePolicy(flagsOf([]).flags, PLACE), (descriptor) => {
    if (descriptor.name === "net") throw new TypeError(`invalid host: ${descriptor.host}`);
    return "granted";
  }, SHELLS);
  expect(decide(policy, { net: ["http://a.com"] }).reason).toStartWith('Not run: net of "http://a.com" is never');
});

test("describePolicy says that only what Deno was given is asked for", () => {
  const described = (...argv: string[]) =>
    describePolicy(cutWithDeno(makePolicy(flagsOf(argv).flags, PLACE), denoWith({ net: ["a.com:443"] }), SHELLS).policy)
      .split(" · ").slice(3);
  expect(described()).toEqual(["net: asks for what Deno was given", "env: asks for what Deno was given"]);
  expect(described("--allow-net=a.com,b.com", "--deny-env")).toEqual([
    "net: a.com:443, asks for others that Deno was given",
  ]);
});

const anyGranted = fc.record({
  read: fc.subarray(["/", "/ws", "/ws/a", "/out"]),
  write: fc.subarray(["/", "/ws", "/ws/a", "/out"]),
  run: fc.oneof(fc.constant(true as const), fc.subarray([...NAME_PROBES, "bash"])),
  net: fc.subarray(HOST_PROBES),
  env: fc.subarray(NAME_PROBES),
});

test("cutWithDeno only takes away, leaves nothing that Deno has not granted, and never changes which tools are offered", () => {
  const needs = [
    { read: true },
    { read: true, write: true, run: true },
    ...HOST_PROBES.map((host) => ({ net: [host] })),
    ...NAME_PROBES.map((name) => ({ env: [name] })),
  ];
  const rank = { deny: 0, ask: 1, allow: 2 };
  fc.assert(
    fc.property(anyFlags, anyGranted, (flags, granted) => {
      const before = makePolicy(flags, PLACE);
      const { policy } = cutWithDeno(before, denoWith(granted), SHELLS);
      for (const need of needs) {
        expect(isOffered(policy, need)).toBe(isOffered(before, need));
        expect(rank[decide(policy, need).state]).toBeLessThanOrEqual(rank[decide(before, need).state]);
      }
      for (const name of NAME_PROBES) {
        const { state } = decide(policy, { run: true }, [name]);
        expect(rank[state]).toBeLessThanOrEqual(rank[decide(before, { run: true }, [name]).state]);
      }
      for (const kind of ["read", "write"] as const) {
        for (const path of policy[kind].scope) {
          expect(granted[kind].some((folder) => isInside(folder, path))).toBe(true);
        }
      }
      for (const host of policy.net.scope) expect(granted.net).toContain(host);
      for (const name of policy.env.scope) expect(granted.env).toContain(name);
      for (const host of HOST_PROBES) {
        if (decide(policy, { net: [host] }).state !== "deny") expect(granted.net).toContain(host);
      }
      for (const name of NAME_PROBES) {
        if (decide(policy, { env: [name] }).state !== "deny") expect(granted.env).toContain(name);
      }
    }),
    { numRuns: 300 },
  );
});
