import { describe, expect, test } from "bun:test";
import { deflateSync } from "node:zlib";
import { fitted } from "../core/model/fitting.ts";
import { append, appendText } from "../core/history.ts";
import type { Message } from "../core/message.ts";
import { agentFor, fixtureRegistry, say } from "./support/agent.ts";
import { type Answer, fakeApi, reply } from "./support/fake_api.ts";

const registry = await fixtureRegistry("reads", "shows_a_picture");
const done = reply({ text: "done" });

/** A PNG of one row, so wide. */
function png(width: number): string {
  const chunk = (type: string, data: Uint8Array) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const out = Buffer.alloc(12 + data.length);
    out.writeUInt32BE(data.length, 0);
    body.copy(out, 4);
    out.writeUInt32BE(Bun.hash.crc32(body), 8 + data.length);
    return out;
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(1, 4);
  header[8] = 1;
  const row = deflateSync(Buffer.alloc(1 + Math.ceil(width / 8)));
  const signature = Buffer.from("89504e470d0a1a0a", "hex");
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", row), chunk("IEND", Buffer.alloc(0))])
    .toString("base64");
}

/** A conversation in which the tool has shown images of these widths, one reply each. */
function conversation(widths: readonly number[]): Message[] {
  const messages: Message[] = [];
  appendText(messages, "look");
  for (const [index, width] of widths.entries()) {
    const id = `toolu_${index}`;
    append(messages, { role: "assistant", content: [{ type: "tool_use", id, name: "reads", input: { word: "a" } }] });
    const source = { type: "base64" as const, media_type: "image/png", data: png(width) };
    append(messages, {
      role: "user",
      content: [{
        type: "tool_result",
        tool_use_id: id,
        content: [{ type: "text", text: "here" }, { type: "image", source }],
      }],
    });
  }
  append(messages, { role: "assistant", content: [{ type: "text", text: "seen" }] });
  return messages;
}

function imageCount(messages: unknown): number {
  return JSON.stringify(messages).split('"type":"image"').length - 1;
}

function fittedAgent(api: { url: string }) {
  const agent = agentFor(api, { registry, limits: { retries: 0 } });
  return { ...agent, ask: fitted(agent.ask) };
}

describe("fitted", () => {
  const many: [what: string, widths: number[], left: number][] = [
    ["20 large images as they are", Array(20).fill(2004), 20],
    ["100 small images as they are", Array(100).fill(1), 100],
    ["21 large ones by dropping the oldest (L19)", Array(21).fill(2004), 15],
    ["one large one among 30 small ones by dropping that one", [...Array(15).fill(1), 2004, ...Array(15).fill(1)], 30],
    ["101 small ones by dropping the oldest", Array(101).fill(1), 95],
  ];
  test.each(many)("sends %s", async (_, widths, left) => {
    await using api = await fakeApi([done, done]);
    const messages = conversation(widths);
    const turn = await say(fittedAgent(api), messages, "and?");
    expect(turn.stop).toBe("end_turn");
    expect(imageCount(api.requests[0]?.body.messages)).toBe(left);
    expect(turn.events.some((event) => event.type === "warning")).toBe(left < widths.length);
    await say(fittedAgent(api), messages, "go on");
    expect(imageCount(api.requests[1]?.body.messages)).toBe(left);
  });

  function refusal(status: number, type: string, message: string): Answer {
    return { status, body: { type: "error", error: { type, message } } };
  }

  const named = "messages.2.content.0.content.1.image.source.base64: Could not process image";
  test("takes out the image that the API could not use, and asks once more (L47)", async () => {
    await using api = await fakeApi([
      reply({ calls: [{ name: "shows_a_picture", input: {} }] }),
      refusal(400, "invalid_request_error", named),
      done,
      done,
    ]);
    const messages: Message[] = [];
    const turn = await say(fittedAgent(api), messages, "go");
    expect(turn.stop).toBe("end_turn");
    expect(imageCount(messages)).toBe(0);
    expect(imageCount(api.requests[2]?.body.messages)).toBe(0);
    expect((await say(fittedAgent(api), messages, "next")).stop).toBe("end_turn");
  });

  test("takes out the newest image when the API names no place", async () => {
    await using api = await fakeApi([
      reply({ calls: [{ name: "shows_a_picture", input: {} }] }),
      refusal(400, "invalid_request_error", "Could not process image"),
      done,
    ]);
    const messages = conversation([1]);
    const turn = await say(fittedAgent(api), messages, "go");
    expect(turn.stop).toBe("end_turn");
    expect(imageCount(messages)).toBe(1);
  });

  const unrelated: [words: string][] = [
    ["tools.0.custom.input_schema: is not valid"],
    ["messages.2.content.0.tool_use_id: unexpected"],
    ["messages.9.content.0.image.source: Could not process image"],
    ["messages: at least one message is required"],
  ];
  test.each(unrelated)("strips nothing when the API says %j", async (words) => {
    await using api = await fakeApi([
      reply({ calls: [{ name: "shows_a_picture", input: {} }] }),
      refusal(400, "invalid_request_error", words),
    ]);
    const messages: Message[] = [];
    const turn = await say(fittedAgent(api), messages, "go");
    expect(String(turn.error)).toContain(words);
    expect(imageCount(messages)).toBe(1);
  });

  test("does not send a request again that was too large, and makes the next one lighter (L33)", async () => {
    await using api = await fakeApi([refusal(413, "request_too_large", "Request exceeds the maximum size"), done]);
    const messages = conversation([1, 1]);
    const long = messages[2]?.content[0];
    if (long?.type !== "tool_result") throw new Error("no result");
    long.content = [{ type: "text", text: "y".repeat(50_000) }];
    append(messages, { role: "user", content: [{ type: "text", text: "x" }] });
    const turn = await say(fittedAgent(api), messages, "and?");
    expect((turn.error as Error).message).toEndWith(
      "Images and long results were taken out of the conversation. Ask again",
    );
    expect(api.requests.length).toBe(1);
    expect((await say(fittedAgent(api), messages, "again")).stop).toBe("end_turn");
    expect(imageCount(api.requests[1]?.body.messages)).toBe(0);
    expect(JSON.stringify(api.requests[1]?.body.messages)).toContain("the rest of this result was left out");
    expect(JSON.stringify(api.requests[1]?.body.messages).length).toBeLessThan(10_000);
  });
});
