/** Example: a tool that only reads. Copy it to a `plugins` folder to use it. */

import type { Definition, Handler } from "tenon";

export const definition: Definition = {
  name: "todo_scan",
  description:
    "Lists the TODO and FIXME comments of the workspace with file and line, at most 100. Use it when the user asks what is " +
    "left to do. Give a path to look into one folder only; read_file shows what stands around a comment.",
  input_schema: {
    type: "object",
    properties: { path: { type: "string", description: "Folder, relative to the workspace. Default: all of it" } },
    additionalProperties: false,
  },
  permissions: { read: true },
  input_examples: [{}, { path: "src" }],
};

const LIMIT = 100;

export const handler: Handler<{ path?: string }> = async ({ path = "." }, { workspace, progress }) => {
  const found: string[] = [];
  let files = 0;
  for await (const file of workspace.walkFiles({ path, limit: 1_000_000 })) {
    if (++files % 1000 === 0) progress(`${files} files, ${found.length} comments`);
    if (!file.bytes || file.bytes.includes(0)) continue; // too large, not readable, or binary
    for (const [index, line] of new TextDecoder().decode(file.bytes).split("\n").entries()) {
      const comment = /\b(?:TODO|FIXME)\b.*/.exec(line)?.[0];
      if (comment !== undefined) found.push(`${file.path}:${index + 1}: ${comment.trim().slice(0, 200)}`);
    }
    if (found.length > LIMIT) {
      return `${found.slice(0, LIMIT).join("\n")}\n[${LIMIT} shown; give a path for the others]`;
    }
  }
  return found.length > 0 ? found.join("\n") : `No TODO and no FIXME in ${files} ${files === 1 ? "file" : "files"}`;
};
