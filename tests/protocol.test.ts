import { describe, expect, test } from "bun:test";
// @ts-types="../node_modules/valibot/dist/index.d.mts"
import * as v from "valibot";
import { FromHost } from "../core/hosts/protocol.ts";

/** What core makes of a host that says that it loaded this. */
function heard(definition: object): unknown {
  const whole = { name: "t", description: "d", input_schema: { type: "object" }, ...definition };
  const message = { type: "ready", tools: [{ definition: whole, permissions: {}, timeout_ms: 1 }] };
  const parsed = v.safeParse(FromHost, message);
  return parsed.success && parsed.output.type === "ready" ? parsed.output.tools[0]?.definition : undefined;
}

describe("what a host says of its tools", () => {
  test("loses controls, bidi and tag characters, also deep in the schema (PLUG-09)", () => {
    const hidden = "\u001b]52;c;QUJD\u0007\u202e\u2066\u{e0041}\u009b31m";
    expect(heard({
      description: `Does${hidden} it\n\ttwice. Für 👩‍👧`,
      input_schema: { type: "object", properties: { a: { enum: [`x${hidden}`], description: `y${hidden}` } } },
    })).toEqual({
      name: "t",
      description: "Does]52;c;QUJD31m it\n\ttwice. Für 👩‍👧",
      input_schema: {
        type: "object",
        properties: { a: { enum: ["x]52;c;QUJD31m"], description: "y]52;c;QUJD31m" } },
      },
    });
  });

  test("is not taken when it is too long, or nothing once it is clean", () => {
    expect(heard({ description: "A".repeat(20_000) })).toBeDefined();
    expect(heard({ description: "A".repeat(20_001) })).toBeUndefined();
    expect(heard({ description: "\u202e\u{e0041}" })).toBeUndefined();
    expect(heard({ input_schema: { type: "object", description: "A".repeat(100_000) } })).toBeUndefined();
    expect(heard({ name: "a b" })).toBeUndefined();
  });
});
