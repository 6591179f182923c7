import { expect, test } from "bun:test";
import { createRegistry, type Host, type Tool } from "../core/registry.ts";
import { toolLines, toolList } from "../core/tool_list.ts";

const host: Host = { call: () => Promise.resolve({ content: "", is_error: false }) };

function tool(name: string, permissions: Tool["permissions"]): Tool {
  return {
    definition: { name, description: "d", input_schema: { type: "object" } },
    permissions,
    source: "built in",
    host,
  };
}

test("toolLines lets a long name or a long permission move its own row alone", () => {
  const long = "a".repeat(64);
  const net = Array.from({ length: 9 }, (_, index) => `host-${index}.example.com:443`);
  const registry = createRegistry([tool(long, { read: true }), tool("b", { read: true }), tool("c", { net })]);
  const lines = toolLines(toolList({ setAside: [], untrusted: [], skipped: [] }, registry));
  expect(lines.slice(0, 3)).toEqual([
    "NAME  PERMISSIONS  BYTES  SOURCE",
    `${long}  read           126  built in`,
    "b     read            63  built in",
  ]);
  expect(lines.slice(3)).toEqual([
    `c     net=${net.join(",")}     63  built in`,
    "3 tools: about 72 tokens of every request",
  ]);
});
