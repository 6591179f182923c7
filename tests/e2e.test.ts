import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { tempWorkspace } from "./support/temp_workspace.ts";
import { type Answer, type FakeApi, fakeApi, reply } from "./support/fake_api.ts";
import { type Outcome, runTenon, type Start, startTenon, TOOLS, type Way, WAYS } from "./support/program.ts";

setDefaultTimeout(60_000); // a run has its own limit

const KEY = "sk-test-0123456789";
const KNOWN = TOOLS.join(", ");

/** A start that talks to the fake. */
function towards(api: Pick<FakeApi, "url">, start: Start): Start {
  return {
    ...start,
    args: ["--base-url", api.url, "-m", "fake-model", ...(start.args ?? [])],
    env: { ANTHROPIC_API_KEY: KEY, ...start.env },
    deno: { net: [new URL(api.url).host], ...start.deno },
  };
}

const THREE_ROUNDS: Answer[] = [
  reply({ text: "I look first.", calls: [{ id: "toolu_1", name: "list_files", input: {} }] }),
  reply({
    calls: [
      { id: "toolu_2", name: "read_file", input: { path: "notes.txt" } },
      { id: "toolu_3", name: "no_such_tool", input: {} },
    ],
  }),
  reply({ text: "It says milk.\nThat is all." }),
];

/** Every line of stdout as JSON. */
function linesOf({ stdout }: Outcome): { [name: string]: unknown }[] {
  expect(stdout).toEndWith("\n");
  return stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
}

describe.concurrent.each([...WAYS])("a turn with tenon as %s", (way: Way) => {
  test("lists, reads, is told of a tool that is not there, and answers on stdout alone", async () => {
    await using temp = await tempWorkspace({ "notes.txt": "milk\n" });
    await using api = await fakeApi(THREE_ROUNDS);
    const { code, stdout, stderr } = await runTenon(way, towards(api, { cwd: temp.root, args: ["What is to buy?"] }));
    expect(stdout).toBe("It says milk.\nThat is all.\n");
    const noted = stderr.split("\n");
    expect(noted.slice(0, 5)).toEqual([
      "I look first.",
      "⏺ list_files {}",
      "  notes.txt",
      '⏺ read_file {"path":"notes.txt"}',
      "⏺ no_such_tool {}",
    ]);
    // The two of one reply run at the same time; either may be done first.
    expect(noted.slice(5).join("\n")).toContain(`No tool is named "no_such_tool". Use one of: ${KNOWN}`);
    expect(noted.slice(5).join("\n")).toContain("milk");
    expect(code).toBe(0);
    expect(api.requests[0]?.body.messages).toEqual([
      { role: "user", content: [expect.objectContaining({ type: "text", text: "What is to buy?" })] },
    ]);
    expect(api.requests[0]?.headers["authorization"]).toBe(`Bearer ${KEY}`);
    expect(api.requests[2]?.body.messages.at(-1).content).toMatchObject([
      { type: "tool_result", tool_use_id: "toolu_2", content: "     1\tmilk" },
      {
        type: "tool_result",
        tool_use_id: "toolu_3",
        content: `No tool is named "no_such_tool". Use one of: ${KNOWN}`,
        is_error: true,
      },
    ]);
  });

  test("tells the whole turn in one object with --output-format json", async () => {
    await using temp = await tempWorkspace({ "notes.txt": "milk\n" });
    await using api = await fakeApi(THREE_ROUNDS);
    const outcome = await runTenon(way, towards(api, { cwd: temp.root, args: ["--output-format", "json", "go"] }));
    const [result, ...more] = linesOf(outcome);
    expect(more).toEqual([]);
    expect(result).toEqual({
      type: "result",
      result: "It says milk.\nThat is all.",
      stop_reason: "end_turn",
      is_error: false,
      steps: 3,
      usage: {
        input_tokens: expect.any(Number),
        output_tokens: expect.any(Number),
        cache_creation_input_tokens: expect.any(Number),
        cache_read_input_tokens: expect.any(Number),
      },
      cost_usd: null,
      session_id: null,
      model: "fake-model",
      fence: expect.stringMatching(/^(kernel|runtime|guard)$/),
    });
    expect(outcome.code).toBe(0);
  });

  test("tells the turn line by line with --output-format stream-json", async () => {
    await using temp = await tempWorkspace({ "notes.txt": "milk\n" });
    await using api = await fakeApi(THREE_ROUNDS);
    const args = ["--output-format", "stream-json", "go"];
    const lines = linesOf(await runTenon(way, towards(api, { cwd: temp.root, args })));
    // Text comes in as many pieces as the stream had.
    const kinds = lines.map(({ type }) => type).filter((type, index, all) =>
      type !== "text" || all[index - 1] !== type
    );
    expect(kinds).toEqual([
      ...["init", "text", "usage", "tool_use", "tool_result"],
      ...["usage", "tool_use", "tool_use", "tool_result", "tool_result"],
      ...["text", "usage", "result"],
    ]);
    expect(lines[0]).toMatchObject({ model: "fake-model", tools: TOOLS });
    expect(lines.find(({ type }) => type === "tool_use")).toMatchObject({
      id: "toolu_1",
      name: "list_files",
      input: {},
    });
    const text = lines.filter(({ type }) => type === "text").map((line) => line["text"]).join("");
    expect(text).toBe("I look first.It says milk.\nThat is all.");
    expect(lines.at(-1)).toMatchObject({ result: "It says milk.\nThat is all.", steps: 3, is_error: false });
  });

  const refused: [status: number, type: string, message: string, hint: string][] = [
    [401, "authentication_error", "invalid x-api-key", ". Check ANTHROPIC_API_KEY"],
    [400, "invalid_request_error", "nope:\nnot this way", ""],
  ];
  test.each(refused)(
    "says in one line what the API says with %d, and exits with 1",
    async (status, type, message, hint) => {
      await using temp = await tempWorkspace();
      await using api = await fakeApi([{ status, body: { type: "error", error: { type, message } } }]);
      const { code, stdout, stderr } = await runTenon(way, towards(api, { cwd: temp.root, args: ["hi"] }));
      const told = `The API answered ${status} ${type}: ${message.replace("\n", "\\n")}`;
      expect(stderr.replace(/req_\w+/, "ID")).toBe(`tenon: ${told} (request ID)${hint}\n`);
      expect(stdout).toBe("");
      expect(code).toBe(1);
    },
  );

  test("L51: says in the JSON what the API said, and exits with 1", async () => {
    await using temp = await tempWorkspace();
    await using api = await fakeApi([{
      status: 400,
      body: { type: "error", error: { type: "invalid_request_error", message: "nope" } },
    }]);
    const outcome = await runTenon(way, towards(api, { cwd: temp.root, args: ["-p", "hi", "--output-format=json"] }));
    expect(linesOf(outcome).at(-1)).toMatchObject({ is_error: true, stop_reason: "api_error" });
    expect(linesOf(outcome).at(-1)?.["result"]).toContain("nope");
    expect(outcome.stderr).toContain("nope");
    expect(outcome.code).toBe(1);
  });

  test("says that an answer is empty, in the JSON too, and exits with 1", async () => {
    await using temp = await tempWorkspace();
    await using api = await fakeApi([reply({ text: " \n" })]);
    const outcome = await runTenon(way, towards(api, { cwd: temp.root, args: ["-p", "hi", "--output-format=json"] }));
    expect(linesOf(outcome)).toMatchObject([{ is_error: true, stop_reason: "end_turn" }]);
    expect(outcome.stderr).toContain("tenon: the model's answer is empty");
    expect(outcome.code).toBe(1);
  });

  test("stops at --max-steps, says how to go on, and exits with 1", async () => {
    await using temp = await tempWorkspace({ "notes.txt": "milk\n" });
    const again = () => reply({ text: "Once more.", calls: [{ name: "list_files", input: {} }] });
    await using api = await fakeApi([again, again]);
    const args = ["--max-steps", "2", "go"];
    const { code, stderr } = await runTenon(way, towards(api, { cwd: temp.root, args }));
    expect(api.requests.length).toBe(2);
    expect(stderr).toMatch(/2 steps.*--max-steps/);
    expect(code).toBe(1);
  });

  test("ends at SIGINT with 130 and with what was said so far", async () => {
    await using temp = await tempWorkspace();
    await using api = await fakeApi([{
      sse: [
        {
          type: "message_start",
          message: {
            ...{ id: "msg_1", type: "message", role: "assistant", model: "fake-model", content: [] },
            ...{ stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } },
          },
        },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Step one is done, " } },
      ],
      then: "silence",
    }]);
    const args = ["--output-format", "stream-json", "go"];
    await using running = await startTenon(way, towards(api, { cwd: temp.root, args }));
    await running.until("Step one");
    running.signal("SIGINT");
    const outcome = await running.ended;
    expect(linesOf(outcome).at(-1)).toMatchObject({ type: "result", stop_reason: "interrupted", is_error: true });
    expect(outcome.stderr).not.toContain("    at ");
    expect(outcome.code).toBe(130);
    await api.until(() => api.disconnects === 1);
  });

  test("L45: ends quietly when nobody reads the answer any more", async () => {
    await using temp = await tempWorkspace();
    const text = Array.from({ length: 20_000 }, (_, line) => `line ${line}`).join("\n");
    await using api = await fakeApi([reply({ text })]);
    const shell = '{ "$@"; echo "exit $?" >&2; } | head -1';
    const outcome = await runTenon(way, towards(api, { cwd: temp.root, args: ["-p", "a long answer"], shell }));
    expect(outcome.stdout).toBe("line 0\n");
    expect(outcome.stderr).toBe("exit 0\n");
  });
});
