import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type Answer, createApproval, type Question } from "../core/permissions/approval.ts";
import { type Connect, createHosts } from "../core/hosts/hosts.ts";
import type { ToolUseBlock } from "../core/message.ts";
import { grantFor } from "../core/permissions/permissions.ts";
import { makePolicy } from "../core/permissions/policy.ts";
import { createRegistry, type Tool } from "../core/registry.ts";
import type { Permissions } from "../core/tool.ts";
import { flagsOf } from "./support/flags.ts";
import { connectInProcess } from "./support/host_in_process.ts";
import { writeFiles } from "./support/program.ts";
import { type TempWorkspace, tempWorkspace } from "./support/temp_workspace.ts";

const once: Answer = { verdict: "once" };
const always: Answer = { verdict: "always" };
const no: Answer = { verdict: "no" };
const REFUSED = "Not run: the user refused sends. Ask what to do instead";

/** A plugin that takes its time; `told` is what its preview proposes. */
function text(permissions: Permissions, told?: object): string {
  return `export const definition = {
  name: "sends", description: "Sends.", input_schema: { type: "object" }, permissions: ${JSON.stringify(permissions)},
};
export const handler = async ({ ms = 0 }) => {
  await new Promise((resolve) => setTimeout(resolve, ms));
  return "done";
};
${told === undefined ? "" : `export const preview = () => (${JSON.stringify(told)});`}
`;
}

/** An approval whose user answers by the list; a question beyond its end fails. */
function open({ root, top }: TempWorkspace, answers: Answer[], flags: string[] = []) {
  const asked: Question["asked"][] = [];
  const policy = makePolicy(flagsOf(flags).flags, { root, resolve: (path) => join(root, path) });
  let started = 0;
  let running = 0;
  const connect: Connect = ({ needs }) => {
    const connection = connectInProcess();
    if (!needs.net && !needs.env && !needs.write) return connection; // it only loads or tells
    running++;
    started++;
    void connection.closed.then(() => running--);
    return connection;
  };
  const hosts = createHosts(connect, new Map());
  const approval = createApproval(policy);
  let isAsking = false;
  approval.ask = async (question) => {
    if (isAsking) throw new Error("two questions at the same time");
    isAsking = true;
    await Bun.sleep(5);
    isAsking = false;
    asked.push(question.asked);
    const answer = answers.shift();
    if (!answer) throw new Error(`asked once too often: ${JSON.stringify(question.asked)}`);
    return answer;
  };
  let files = 0;
  /** The plugin as it is loaded from this text, whatever was there before under the name of `source`. */
  async function load(
    permissions: Permissions,
    { source = "/p/sends.ts", told }: { source?: string; told?: object } = {},
  ) {
    const folder = join(top, `${files++}`); // a runtime imports a file once
    await writeFiles(folder, { "sends.ts": text(permissions, told) });
    const plugins = { file: join(folder, "sends.ts") };
    const [loaded] = await hosts.load(plugins);
    if (!loaded) throw new Error("it did not load");
    const host = hosts.open({ plugins, needs: loaded.permissions, grant: grantFor(policy, loaded.permissions) }, [
      loaded,
    ]);
    return approval.guard({ definition: loaded.definition, permissions: loaded.permissions, source, host });
  }
  return { approval, asked, load, started: () => started, running: () => running };
}

/** The results of calls of one reply. */
async function batch(tool: Tool, ...inputs: object[]): Promise<string[]> {
  const blocks = inputs.map((input, at): ToolUseBlock => ({ type: "tool_use", id: `${at}`, name: "sends", input }));
  const results = new Map();
  for await (const _ of createRegistry([tool]).runAll(blocks, results, new AbortController().signal));
  return blocks.map(({ id }) => results.get(id).content);
}

const NEEDS: Permissions = { read: true, net: ["A.com", "b.com:80"], env: ["TOKEN"] };
const ALL = { work: false, net: ["a.com:443", "b.com:80"], env: ["TOKEN"] };

describe("a plugin that names hosts and variables", () => {
  const rows: [
    what: string,
    flags: string[],
    answers: Answer[],
    results: string[],
    asked: Question["asked"][],
    hosts: number,
  ][] = [
    ["is asked for each call after a yes", [], [once, once], ["done", "done"], [ALL, ALL], 2],
    ["is asked for once after always, and keeps its host", [], [always], ["done", "done"], [ALL], 1],
    ["is refused after a no, and asked for again", [], [no, no], [REFUSED, REFUSED], [ALL, ALL], 0],
    ["is asked for what no flag allows", ["--allow-net=a.com", "--allow-env=TOKEN"], [always], ["done", "done"], [
      { work: false, net: ["b.com:80"], env: [] },
    ], 1],
    [
      "is not asked for what flags allow",
      ["--allow-net=a.com,b.com:80", "--allow-env=TOKEN"],
      [],
      [
        "done",
        "done",
      ],
      [],
      1,
    ],
    [
      "is not asked for where nobody can be asked",
      ["--no-prompt", "--allow-env=TOKEN"],
      [],
      Array(2).fill("Not run: net needs --allow-net=a.com:443,b.com:80, and nobody can be asked here"),
      [],
      0,
    ],
    [
      "is not asked for what a flag denies",
      ["--deny-net=b.com:80"],
      [],
      Array(2).fill("Not run: net is denied here by --deny-net=b.com:80"),
      [],
      0,
    ],
  ];
  test.each(rows)("%s", async (_what, flags, answers, results, questions, hosts) => {
    await using temp = await tempWorkspace();
    const { asked, load, started } = open(temp, answers, flags);
    const tool = await load(NEEDS);
    expect([...await batch(tool, {}), ...await batch(tool, {})]).toEqual(results);
    expect(asked).toEqual(questions);
    expect(started()).toBe(hosts);
  });

  test("is asked once for all of a call; always is kept for each host, variable and file, and taken back one by one", async () => {
    await using temp = await tempWorkspace();
    const { approval, asked, load } = open(temp, [always, always, once, no]);
    const tool = await load({ write: true, ...NEEDS }, { told: { path: "a.txt", diff: "" } });
    expect(await batch(tool, {}, {})).toEqual(["done", "done"]);
    expect(approval.grants()).toEqual([
      "sends: the file a.txt",
      "sends: the host a.com:443",
      "sends: the host b.com:80",
      "sends: the variable TOKEN",
    ]);
    expect(approval.revoke(3)).toBe(true);
    await batch(tool, {});
    expect(approval.grants()).toHaveLength(4);
    expect([approval.revoke(1), approval.revoke(2)]).toEqual([true, true]);
    await batch(tool, {});
    approval.forget();
    expect(approval.grants()).toEqual([]);
    await batch(tool, {});
    expect(asked).toEqual([
      { ...ALL, work: true },
      { work: false, net: ["b.com:80"], env: [] },
      { work: true, net: [], env: ["TOKEN"] },
      { ...ALL, work: true },
    ]);
  });

  test("is asked for again when it is loaded with another host, and for that one alone", async () => {
    await using temp = await tempWorkspace();
    const { approval, asked, load } = open(temp, [always, no]);
    await batch(await load({ net: ["a.com"] }), {});
    expect(await batch(await load({ net: ["a.com"] }), {})).toEqual(["done"]);
    expect(await batch(await load({ net: ["a.com", "evil.com"] }), {})).toEqual([REFUSED]);
    expect(asked).toEqual([{ work: false, net: ["a.com:443"], env: [] }, {
      work: false,
      net: ["evil.com:443"],
      env: [],
    }]);
    expect(approval.grants()).toEqual(["sends: the host a.com:443"]);
  });

  const more: [what: string, before: Permissions, after: Permissions, asked: Question["asked"]][] = [
    ["reads, which it can send", { net: ["a.com"] }, { read: true, net: ["a.com"] }, {
      work: false,
      net: ["a.com:443"],
      env: [],
    }],
    ["starts programs", { write: true }, { write: true, run: true }, { work: true, net: [], env: [] }],
    ["sees a variable", { net: ["a.com"] }, { net: ["a.com"], env: ["TOKEN"] }, {
      work: false,
      net: [],
      env: ["TOKEN"],
    }],
  ];
  test.each(more)("is asked for again when it is loaded anew and %s", async (_what, before, after, expected) => {
    await using temp = await tempWorkspace();
    const { asked, load } = open(temp, [always, no]);
    await batch(await load(before), {});
    expect(await batch(await load(after), {})).toEqual([REFUSED]);
    expect(asked[1]).toEqual(expected);
  });

  const others: [what: string, needs: Permissions][] = [
    ["the same host", { net: ["a.com"] }],
    ["a variable of the host's name", { env: ["a_com"] }],
    ["the same work", { write: true }],
  ];
  test.each(others)("is never let through by the answer for another file of its name: %s", async (_what, needs) => {
    await using temp = await tempWorkspace();
    const { asked, load } = open(temp, [always, no]);
    expect(await batch(await load(needs), {})).toEqual(["done"]);
    expect(await batch(await load(needs, { source: "/q/sends.ts" }), {})).toEqual([REFUSED]);
    expect(asked).toHaveLength(2);
  });

  test("is given nothing by what it proposes, neither for its work nor for its hosts", async () => {
    await using temp = await tempWorkspace();
    const { approval, asked, load } = open(temp, [always, no, no], ["--allow-run=curl", "--allow-write"]);
    const told = { command: "curl b.com" };
    await batch(await load({ write: true, net: ["a.com"] }, { told }), {});
    expect(approval.grants()).toEqual(["sends: the host a.com:443"]);
    await batch(await load({ run: true, net: ["a.com"] }, { told }), {});
    await batch(await load({ net: ["b.com"] }, { told }), {});
    expect(asked).toEqual([
      { work: false, net: ["a.com:443"], env: [] },
      { work: true, net: [], env: [] },
      { work: false, net: ["b.com:443"], env: [] },
    ]);
  });

  test("waits for the answer to the call before it, and takes an always for its own", async () => {
    await using temp = await tempWorkspace();
    const { asked, load } = open(temp, [always]);
    expect((await batch(await load(NEEDS), {}, {}, {})).toSorted()).toEqual(["done", "done", "done"]);
    expect(asked).toHaveLength(1);
  });

  test("has a host for each call that was allowed by a yes, also for two at the same time", async () => {
    await using temp = await tempWorkspace();
    const { load, running, started } = open(temp, [once, once, once]);
    const tool = await load(NEEDS);
    expect(await batch(tool, { ms: 10 }, { ms: 200 }, { ms: 1 })).toEqual(["done", "done", "done"]);
    expect([started(), running()]).toEqual([3, 0]);
  });

  const takenBack: [what: string, act: (approval: ReturnType<typeof createApproval>) => void][] = [
    ["revoked", (approval) => approval.revoke(2)],
    ["forgotten", (approval) => approval.forget()],
  ];
  test.each(takenBack)(
    "loses its host when what it was granted is %s, also when it was loaded anew",
    async (_, act) => {
      await using temp = await tempWorkspace();
      const { approval, load, running } = open(temp, [always]);
      await batch(await load(NEEDS), {});
      await batch(await load(NEEDS), {});
      const before = running();
      act(approval);
      await Bun.sleep(1);
      expect([before, running()]).toEqual([2, 1]); // the first is the catalog's to end
    },
  );

  test("is not asked for any more once a question before it stopped the turn", async () => {
    await using temp = await tempWorkspace();
    const { approval, asked, load } = open(temp, [{ verdict: "none" }]);
    const { host } = await load(NEEDS);
    const stop = new AbortController();
    const { ask } = approval;
    approval.ask = async (question, signal) => {
      const answer = await ask?.(question, signal);
      stop.abort();
      return answer ?? no;
    };
    const call = () => host.call("sends", {}, { signal: stop.signal, progress() {} });
    const stopped = { content: "Not run: the turn was interrupted", is_error: true };
    expect(await Promise.all([call(), call()])).toEqual([stopped, stopped]);
    expect(asked).toHaveLength(1);
  });
});
