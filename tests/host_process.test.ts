import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { RESULT_LIMIT } from "../core/text.ts";
import { EXPECTED_FAULTS } from "./attacks/expected_breaches.ts";
import { leftBehind, marked } from "./support/left_behind.ts";
import {
  type Outcome,
  type Running,
  runTenon,
  SOURCES,
  type Start,
  startTenon,
  type Way,
  WAYS,
} from "./support/program.ts";
import { type TempWorkspace, tempWorkspace } from "./support/temp_workspace.ts";

const FIXTURES = join(SOURCES, "tests", "fixtures");
const HOSTILE = join(FIXTURES, "hostile");
const KEY = "sk-secret-0123456789";

interface Answer {
  name: string;
  content: string | unknown[];
  is_error: boolean;
}

/** What a call comes to: text of a good result, or the reason of a bad one as a pattern. */
type Expected = string | RegExp;

interface Fault {
  plugin: string;
  input?: object;
  does: string;
  bun: Expected;
  deno: Expected;
  /** What its next call, with `{ behave: true }`, may come to other than "well". */
  next?: Expected;
}

const NO_FFI = /^Cannot run [a-z_]+: it imports "bun:ffi", which is not there$/;
const NO_HANDLE = /the system refused it$/;
const NO_SIGNAL = /which it does not declare/;
const WAS_ENDED = /^Cannot run kills: its process was ended$/;
const CHANNEL = /^Cannot run forges_messages: its plugin wrote into tenon's own channel$/;
const ENDED = /: its process ended by itself \(exit code \d\)$/;

/** Under Deno what spins comes last: it keeps a processor busy until tenon ends. */
const FAULTS: Fault[] = [
  {
    plugin: "exits",
    does: "exits (X11)",
    bun: /^Cannot run exits.*exit code 7/,
    deno: /^Cannot run exits.*exit code 7/,
  },
  { plugin: "exits_later", does: "exits after its answer", bun: "well", deno: "well", next: /^well$|exit code 0/ },
  uncaught("rejects_unheard", "leaves a rejection that nobody handles", "nobody hears this"),
  uncaught("throws_in_a_timer", "throws in a timer", "nobody catches this"),
  { plugin: "crashes", does: "crashes", bun: /^Cannot run crashes: its process crashed \(SIG[A-Z]+\)$/, deno: NO_FFI },
  late("ignores_the_signal", "ignores its signal (X09)"),
  same("recurses", "calls itself for ever", /^Cannot run recurses: it called itself without end$/),
  same("changes_the_folder", "goes to another folder", "hello\n", "hello\n"),
  same("changes_the_environment", "changes the environment", "sees none", "sees none"),
  // From then on its own host may fail; its next call must only be answered.
  { plugin: "patches_globals", does: "patches globals", bun: "patched", deno: "patched", next: /./ },
  same("prints", "prints with JavaScript (X13)", "well"),
  same("reports_a_million_times", "reports a million times", "well"),
  same("returns_50_mb", "returns 50 MB of text", /^x+\n\[\d+ of 50000000 characters left out here\]\nx+$/, /./),
  {
    ...same("returns_50_mb", "returns 50 MB of JSON", /of 50000011 characters left out/, /./),
    input: { form: "value" },
  },
  {
    ...same("returns_50_mb", "returns 50 blocks of 1 MB", /text blocks left out: one result is/, /./),
    input: { form: "blocks" },
  },
  {
    ...same("returns_50_mb", "throws 50 MB", /^x+\n\[\d+ of 50000000 characters left out here\]\nx+$/, /./),
    input: { form: "error" },
  },
  {
    ...same("returns_50_mb", "returns an image of 50 MB", /an image was left out: it has 37,500,000 bytes/, /./),
    input: { form: "image" },
  },
  {
    plugin: "writes_a_100_mb_line",
    does: "sends a message of 100 MB",
    bun: /: its answer was over 32 MB$/,
    deno: NO_HANDLE,
  },
  { ...forges("{broken"), does: "sends broken JSON", bun: CHANNEL },
  { ...forges('{"type":"grant","net":["*"],"trust":true}'), does: "sends a message that is none", bun: CHANNEL },
  { ...forges(`${"[".repeat(200_000)}`), does: "sends JSON of great depth", bun: CHANNEL },
  forges(
    '{"type":"ready","tools":[]}',
    '{"type":"failed","problem":"FORGED"}',
    '{"type":"result","id":999,"content":"FORGED","is_error":false,"seen":[]}',
    '{"type":"progress","id":999,"text":"FORGED"}',
  ),
  { plugin: "notes_nonsense", does: "notes a file that is none", bun: /^seen\.note needs/, deno: /^seen\.note needs/ },
  // Its end may be seen before its answer, or by its next call.
  { ...closes([100], "closes the handle that calls come from", /^well$|exit code 0/), next: /^well$|exit code 0/ },
  closes([101], "closes the handle that results go to", ENDED),
  closes([100, 101, 0, 1, 2], "closes every handle", ENDED),
  { ...kills("group"), does: "kills its own group", bun: WAS_ENDED },
  { ...kills("core"), does: "kills core", bun: /the system does not permit it$/ },
  { ...kills("self"), does: "kills itself", bun: WAS_ENDED, deno: WAS_ENDED },
  { ...kills("self, by Deno"), does: "kills itself by Deno's word", bun: "well", deno: WAS_ENDED },
  // Bun's host stands still, as if it never answered.
  { ...kills("self, frozen"), does: "freezes itself", bun: /no end after 1 s$/, deno: WAS_ENDED },
  late("spins", "never lets go of its thread"),
];

/** Faults that Deno does not stop. The README's table names each of them. */
const ONLY_BUN: Fault[] = [
  { plugin: "prints_raw", does: "writes to the handle of stdout", bun: "well", deno: /PRINTED/ },
  memory("takes_all_memory", "takes all memory, by bytes", {}),
  memory("takes_all_memory", "takes all memory, by objects", { kind: "objects" }),
];

function same(plugin: string, does: string, expected: Expected, next: Expected = "well"): Fault {
  return { plugin, does, bun: expected, deno: expected, next };
}

function uncaught(plugin: string, does: string, message: string): Fault {
  const reason = `its process ended by itself, with an error that nobody caught: ${message}`;
  return same(plugin, does, new RegExp(`^Cannot run ${plugin}: ${reason}$`));
}

function late(plugin: string, does: string): Fault {
  return same(plugin, does, new RegExp(`^Cannot run ${plugin}: no end after 0.3 s$`));
}

function memory(plugin: string, does: string, input: object): Fault {
  return { plugin, does, input, bun: /^Cannot run takes_all_memory: it ran out of memory$/, deno: "" };
}

function forges(...lines: string[]): Fault {
  return {
    plugin: "forges_messages",
    does: "sends messages of calls that are not open",
    input: { lines },
    bun: "well",
    deno: NO_HANDLE,
  };
}

function closes(handles: number[], does: string, bun: Expected): Fault {
  return { plugin: "closes_its_channel", does, input: { handles }, bun, deno: handles.includes(0) ? /./ : NO_HANDLE };
}

function kills(whom: string): Fault {
  return { plugin: "kills", does: "", input: { whom }, bun: "", deno: NO_SIGNAL };
}

/** Each fault beside a call that must not be touched, then the next call of the same tool. */
function linesFor(faults: readonly Fault[]): string {
  return faults.flatMap(({ plugin, input = {} }) => [
    [{ name: "stays_quiet", input: {} }, { name: plugin, input }],
    { name: plugin, input: { behave: true } },
  ]).map((line) => `${JSON.stringify(line)}\n`).join("");
}

async function runFaults(way: Way, faults: readonly Fault[]) {
  await using temp = await tempWorkspace({ "f.txt": "hello\n" });
  const state = join(temp.top, "state");
  const { code, stdout, stderr } = await runTenon(way, {
    cwd: temp.root,
    args: [
      "call",
      "--plugins",
      HOSTILE,
      "--tools",
      [...new Set(["stays_quiet", ...faults.map(({ plugin }) => plugin)])].join(","),
    ],
    env: { ANTHROPIC_API_KEY: KEY, XDG_STATE_HOME: state },
    stdin: linesFor(faults),
    deno: { read: [".", SOURCES] },
    limitMs: 60_000,
  });
  const answers = stdout.trimEnd().split("\n").map((line): Answer => JSON.parse(line));
  const printed = await readFile(join(state, "tenon", "printed", "prints.log"), "utf8").catch(() => undefined);
  return { answers, stderr, code, printed, left: await leftBehind(temp.top) };
}

function expectAnswer(answer: Answer | undefined, name: string, expected: Expected): void {
  const text = typeof answer?.content === "string" ? answer.content : JSON.stringify(answer?.content);
  expect(answer?.name).toBe(name);
  expect(text.length).toBeLessThanOrEqual(RESULT_LIMIT + 200); // blocks: their JSON
  if (typeof expected === "string") expect(answer).toMatchObject({ content: expected, is_error: false });
  else expect(text).toMatch(expected);
}

describe.each([...WAYS])("a plugin under tenon as %s", (way: Way) => {
  const faults = way === "deno" ? FAULTS : [...FAULTS, ...ONLY_BUN];
  let run: Awaited<ReturnType<typeof runFaults>>;
  beforeAll(async () => {
    run = await runFaults(way, faults);
  }, 90_000);

  test.each(faults.map((fault, index) => [fault.does, fault, index] as const))(
    "that %s gets its answer, and harms neither its neighbour nor its next call",
    (_, fault, index) => {
      const [neighbour, answer, next] = run.answers.slice(3 * index);
      expect(neighbour).toEqual({ name: "stays_quiet", content: "untouched", is_error: false });
      expectAnswer(answer, fault.plugin, way === "deno" ? fault.deno : fault.bun);
      expectAnswer(next, fault.plugin, fault.next ?? "well");
    },
  );

  test("leaves nothing in the answers but the answers, on stderr nothing, and no process", () => {
    expect(run.answers.length).toBe(3 * faults.length);
    expect(run.stderr).toBe("");
    expect(run.code).toBe(1);
    expect(run.left).toEqual([]);
  });

  test("finds what it printed in the state folder, where tenon may write there", () => {
    if (way === "deno") expect(run.printed).toBeUndefined();
    else expect(run.printed?.match(/PRINTED/g)?.length).toBe(2 * 5); // two calls, five ways to print
  });
});

const EXITS =
  /^while it was imported, its process ended by itself \(exit code 0\)\. Only export there, and do the work in the handler$/;
const LATE = /^did not finish loading within 5 s/;
const THROWS = /^line 1: throws while it is imported: not today$/;

/** What is not there to be loaded is not there to be called, and everything else is. */
const AT_IMPORT: [file: string, bun: RegExp, deno: RegExp][] = [
  ["crashes_when_loaded", /^while it was imported, its process crashed \(SIG[A-Z]+\)\. Only/, /which only Bun has$/],
  ["exits_when_loaded", EXITS, EXITS],
  [
    "forges_its_definition",
    /^definition\.name: is "loads_well", but the file is called "forges_its_definition"$/,
    /Bad file descriptor/,
  ],
  ["never_loads", LATE, LATE],
  ["throws_when_loaded", THROWS, THROWS],
];

describe.each([...WAYS])("a plugin that fails while tenon as %s loads it", (way: Way) => {
  test("is set aside with the reason, the others load, and no process is left", async () => {
    await using temp = await tempWorkspace();
    const { stdout, stderr, code } = await runTenon(way, {
      cwd: temp.root,
      args: ["tools", "--json", "--plugins", join(FIXTURES, "hostile_at_import")],
      deno: { read: [".", SOURCES] },
      limitMs: 30_000,
    });
    const { tools, set_aside } = JSON.parse(stdout) as { tools: { name: string }[]; set_aside: SetAside[] };
    expect(tools.map(({ name }) => name)).toContain("loads_well");
    expect(set_aside.map(({ file }) => basename(file, ".ts"))).toEqual(AT_IMPORT.map(([file]) => file));
    for (const [index, [, bun, deno]] of AT_IMPORT.entries()) {
      expect(set_aside[index]?.problem).toMatch(way === "deno" ? deno : bun);
    }
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(await leftBehind(temp.top)).toEqual([]);
  }, 40_000);
});

interface SetAside {
  file: string;
  problem: string;
}

async function startAlone(way: Way, temp: TempWorkspace, plugin: string, more: Partial<Start> = {}): Promise<Running> {
  const running = await startTenon(way, {
    cwd: temp.root,
    args: ["call", "--plugins", join(FIXTURES, "hostile_alone"), "--tools", plugin],
    env: { XDG_STATE_HOME: join(temp.top, "state") },
    stdin: "open",
    deno: { read: [".", SOURCES] },
    limitMs: 30_000,
    ...more,
  });
  running.write(`{"name":"${plugin}"}\n`);
  return running;
}

async function runProgram(way: Way, temp: TempWorkspace, plugin: string): Promise<Outcome> {
  await using running = await startAlone(way, temp, plugin, {
    args: ["call", "--plugins", join(FIXTURES, "hostile_alone"), "--tools", plugin, "--allow-run"],
    deno: { read: [".", SOURCES], run: ["sh"] },
  });
  running.close();
  return await running.ended;
}

describe.each(["bun", "executable"] as const)("a host that spins under tenon as %s", (way) => {
  /** Once the handler has begun. */
  async function startSpinning(temp: TempWorkspace): Promise<Running> {
    const running = await startAlone(way, temp, "spins_for_ever");
    const log = join(temp.top, "state", "tenon", "printed", "spins_for_ever.log");
    while (!(await readFile(log, "utf8").catch(() => "")).includes("it begins")) await Bun.sleep(20);
    expect(marked(temp.top).length).toBeGreaterThan(0);
    return running;
  }

  test("ends when core is killed", async () => {
    await using temp = await tempWorkspace();
    const running = await startSpinning(temp);
    await running[Symbol.asyncDispose](); // SIGKILL
    expect(await leftBehind(temp.top)).toEqual([]);
  }, 40_000);

  test("ends when the user interrupts the call (X09)", async () => {
    await using temp = await tempWorkspace();
    await using running = await startSpinning(temp);
    running.signal("SIGINT");
    const { stdout, code } = await running.ended;
    expect(JSON.parse(stdout).content).toBe("Cannot run spins_for_ever: interrupted by the user");
    expect(code).toBe(130);
    expect(await leftBehind(temp.top)).toEqual([]);
  }, 40_000);
});

describe.each(["bun", "executable"] as const)("a program that a plugin starts under tenon as %s", (way) => {
  test("prints where its plugin does, and not between the answers (X13)", async () => {
    await using temp = await tempWorkspace();
    const { stdout } = await runProgram(way, temp, "starts_a_program");
    expect(stdout).toBe('{"name":"starts_a_program","content":"well","is_error":false}\n');
    const log = join(temp.top, "state", "tenon", "printed", "starts_a_program.log");
    expect(await readFile(log, "utf8")).toContain("FROM A PROGRAM\n");
  }, 40_000);
});

/** Each is a row of the README's table. When Deno learns to stop one, its test fails, and the row can go. */
describe("Deno does not stop", () => {
  const shown: string[] = [];
  function show(fixture: string): string {
    shown.push(fixture);
    return fixture;
  }
  afterAll(() => expect(shown).toEqual(EXPECTED_FAULTS.map(({ fixture }) => fixture)));

  test("a raw write to stdout: it gets between the answers", async () => {
    await using temp = await tempWorkspace();
    await using running = await startAlone("deno", temp, show("writes_to_stdout"));
    running.close();
    expect((await running.ended).stdout).toStartWith("RAW\n{");
  }, 40_000);

  test("a program that a plugin starts: what it prints gets between the answers", async () => {
    await using temp = await tempWorkspace();
    expect((await runProgram("deno", temp, show("starts_a_program"))).stdout).toStartWith("FROM A PROGRAM\n{");
  }, 40_000);

  test("a thread that spins: its call is interrupted, and tenon ends all the same", async () => {
    await using temp = await tempWorkspace();
    await using running = await startAlone("deno", temp, show("spins_for_ever"));
    await Bun.sleep(1500);
    running.signal("SIGINT");
    const { stdout, code } = await running.ended;
    expect(JSON.parse(stdout).content).toBe("Cannot run spins_for_ever: interrupted by the user");
    expect(code).toBe(130);
  }, 40_000);

  test("a plugin that takes the heap: it ends tenon", async () => {
    await using temp = await tempWorkspace();
    const shell = 'deno=$1; shift 2; exec "$deno" run --v8-flags=--max-old-space-size=100 "$@"';
    await using running = await startAlone("deno", temp, show("takes_the_heap"), { shell });
    const { stdout, code } = await running.ended;
    expect(stdout).toBe("");
    expect(code).not.toBe(0);
  }, 40_000);
});
