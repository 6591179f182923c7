import { describe, expect, test } from "bun:test";
import { type Examined, makeReport, type Report, reportLines } from "../core/doctor.ts";
import { join } from "../core/path.ts";
import { parseArgv, VERSION } from "../core/options.ts";
import { openPremises } from "../core/premises.ts";
import { fixtureRegistry } from "./support/agent.ts";
import { tempWorkspace } from "./support/temp_workspace.ts";

const FENCE = { level: "guard" as const, landlock_abi: 0, seccomp: false, not_covered: ["everything, in a test"] };

async function setupIn(root: string, given: Partial<Examined>, flags: string[] = []): Promise<Examined> {
  const { options } = parseArgv(["doctor", "-C", root, ...flags]);
  const premises = await openPremises(options, false);
  const registry = await fixtureRegistry("writes", "reads");
  return {
    ...premises,
    fence: FENCE,
    registry,
    catalog: { skipped: [], setAside: [] },
    ...given,
  };
}

const REPORT: Report = {
  runtime: "bun 1.0.0",
  version: "0.1.0",
  fence: FENCE,
  permissions: "run: asks",
  toolchains: ["/home/u/.cargo/bin"],
  key_source: null,
  folders: { workspace: "/ws", plugins: ["/p", "/q"], config: null, state: null, printed: null },
  plugins: [],
  problems: [],
};

describe("makeReport", () => {
  test("tells where everything is and lists the tools by name", async () => {
    await using temp = await tempWorkspace();
    const report = makeReport(await setupIn(temp.root, {}));
    expect(report).toMatchObject({
      runtime: `bun ${Bun.version}`,
      version: VERSION,
      fence: FENCE,
      folders: { workspace: temp.root },
      problems: [],
    });
    expect(report.plugins.map(({ name }) => name)).toEqual(["reads", "writes"]);
  });

  test("tells what commands may run of the home folder, and that --allow-net=shell lets them reach any host", async () => {
    await using temp = await tempWorkspace();
    const home = join(temp.top, "home");
    await temp.sh("mkdir -p ../home/.bun/bin");
    const reportWith = async (flag: string) => {
      const setup = await setupIn(temp.root, {}, [flag]);
      return makeReport({ ...setup, folders: { ...setup.folders, home } });
    };
    const { toolchains, permissions } = await reportWith("--allow-net=shell");
    expect(toolchains).toContain(join(home, ".bun/bin"));
    expect(permissions).toContain("commands reach any host");
    expect((await reportWith("--deny-run")).toolchains).toEqual([]);
  });

  test("counts as a problem that nothing can be kept, and says what is missed", async () => {
    await using temp = await tempWorkspace({ file: "" });
    const [place, none] = [join(temp.root, "state/tenon"), join(temp.root, "file/tenon")];
    const missed = "there is no undo, and commands have no home and no folder for temporary files. " +
      "Set HOME or XDG_STATE_HOME to a folder that you can write";
    for (
      const [kept, problems] of [
        [place, []],
        [none, [`Nothing can be kept in ${none}: ${missed}`]],
        [undefined, [`Nothing can be kept: ${missed}`]],
      ] as const
    ) {
      expect(makeReport(await setupIn(temp.root, { kept })).problems).toEqual([...problems]);
    }
  });

  test("counts as a problem a key that no header takes, and does not show it", async () => {
    await using temp = await tempWorkspace();
    const before = process.env["ANTHROPIC_API_KEY"];
    process.env["ANTHROPIC_API_KEY"] = "sk-caf\u00e9";
    try {
      const report = makeReport(await setupIn(temp.root, {}));
      expect(report.problems).toEqual(["ANTHROPIC_API_KEY has characters that no key has. Set it again"]);
      expect(JSON.stringify(report)).not.toContain("caf");
    } finally {
      if (before === undefined) delete process.env["ANTHROPIC_API_KEY"];
      else process.env["ANTHROPIC_API_KEY"] = before;
    }
  });

  test("counts as problems what Deno does not give and what was set aside", async () => {
    await using temp = await tempWorkspace();
    const { problems } = makeReport(
      await setupIn(temp.root, {
        missing: [{ feature: "the key", reason: "Deno hides it", flag: "--allow-env" }],
        catalog: { skipped: [], setAside: [{ file: "/p/bad.ts", problem: "line 2: no" }] },
      }),
    );
    expect(problems).toEqual(["the key: Deno hides it", "/p/bad.ts: line 2: no"]);
  });
});

describe("reportLines", () => {
  test("shows every part of the report, each on lines of its own", () => {
    expect(reportLines(REPORT)).toEqual([
      "tenon      0.1.0 on bun 1.0.0",
      "fence      guard",
      "           not covered: everything, in a test",
      "allowed    run: asks",
      "programs   /home/u/.cargo/bin",
      "key        none: set ANTHROPIC_API_KEY (the offline demo model stands in)",
      "workspace  /ws",
      "plugins    /p",
      "plugins    /q",
      "tools      none",
    ]);
    const folders = { ...REPORT.folders, printed: "/state/printed" };
    expect(reportLines({ ...REPORT, folders })).toContain("printed    /state/printed (what plugins print)");
    const fence = { level: "kernel" as const, landlock_abi: 7, seccomp: true, not_covered: [] };
    const plugins = [{ name: "a", source: "built in" }, { name: "b", source: "/p/b.ts" }];
    expect(reportLines({ ...REPORT, fence, plugins, key_source: "ANTHROPIC_API_KEY", problems: ["one", "two"] }))
      .toEqual([
        "tenon      0.1.0 on bun 1.0.0",
        "fence      kernel (Landlock ABI 7, seccomp)",
        "allowed    run: asks",
        "programs   /home/u/.cargo/bin",
        "key        ANTHROPIC_API_KEY",
        "workspace  /ws",
        "plugins    /p",
        "plugins    /q",
        "tools      a, b",
        "problem    one",
        "problem    two",
      ]);
  });
});
