import { describe, expect, test } from "bun:test";
import { leavingLine } from "../core/hosts/leaving.ts";
import { parseFlags, type RawFlags } from "../core/permissions/permission_flags.ts";
import { makePolicy } from "../core/permissions/policy.ts";
import type { Permissions } from "../core/tool.ts";

function tool(name: string, permissions: Permissions, source = `/plugins/${name}.ts`) {
  return { definition: { name, description: "d", input_schema: {} }, permissions, source };
}

const bash = tool("bash", { read: true, write: true, run: true }, "built in");
const getter = tool("getter", { net: ["a.com", "b.com:80"] });
const weather = tool("weather", { net: ["a.com:443"], env: ["TOKEN"] });
const shower = tool("shower", { env: ["TOKEN", "OTHER"] });

describe("leavingLine", () => {
  const rows: [what: string, flags: RawFlags, tools: ReturnType<typeof tool>[], line: string | undefined][] = [
    ["says nothing without a grant", {}, [bash, getter, weather, shower], undefined],
    ["says nothing of a grant that no tool declares", { allowNet: "c.com:443" }, [getter], undefined],
    [
      "names the hosts, in their one spelling",
      { allowNet: "a.com:443,b.com:80" },
      [getter],
      "Granted: getter may send what it reads to a.com:443, b.com:80",
    ],
    [
      "says nothing of a tool of which a part is asked for",
      { allowNet: "a.com:443" },
      [getter, weather],
      undefined,
    ],
    [
      "names variables and hosts",
      { allowNet: "a.com:443", allowEnv: "TOKEN" },
      [getter, weather],
      "Granted: weather may send what it reads, and TOKEN, to a.com:443",
    ],
    [
      "says nothing of a tool that lacks a part where nobody can be asked",
      { allowNet: "a.com:443", prompt: false },
      [getter, weather],
      undefined,
    ],
    ["names variables alone", { allowEnv: "TOKEN,OTHER" }, [shower], "Granted: shower sees TOKEN, OTHER"],
    ["knows that commands see every variable", { allowEnv: "A,B" }, [bash, shower], "Granted: bash sees A, B"],
    [
      "knows that commands may reach any host",
      { allowNet: "shell" },
      [bash, getter],
      "Granted: bash may send what it reads to any host",
    ],
    ["says nothing of commands that cannot run", { allowNet: "shell", denyRun: "" }, [bash], undefined],
    [
      "names each tool",
      { allowNet: "a.com:443,b.com:80", allowEnv: "TOKEN" },
      [getter, weather],
      "Granted: getter may send what it reads to a.com:443, b.com:80; weather may send what it reads, and TOKEN, to a.com:443",
    ],
  ];
  test.each(rows)("%s", (_, flags, tools, line) => {
    const policy = makePolicy(parseFlags(flags), { root: "/ws", resolve: (path) => path });
    expect(leavingLine(policy, tools)).toBe(line);
  });
});
