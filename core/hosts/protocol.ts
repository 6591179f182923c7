/** What core and a host say to each other: one JSON message each, checked on arrival on either side. */

// @ts-types="../../node_modules/valibot/dist/index.d.mts"
import * as v from "valibot";
import { stripped } from "../text.ts";
import type { JsonSchema } from "../tool.ts";
import type { Grant } from "../files/workspace.ts";

/** Bytes of one message, at most: a result of five images of 5 MB fits. */
export const MESSAGE_LIMIT = 32_000_000;

const Text = v.object({ type: v.literal("text"), text: v.string() });
const Image = v.object({
  type: v.literal("image"),
  source: v.object({ type: v.literal("base64"), media_type: v.string(), data: v.string() }),
});
const Sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
const SeenFile = v.object({
  sha256: Sha256,
  whole: v.boolean(),
  lines: v.exactOptional(v.object({ shown: v.array(v.tuple([Count, Count])), total: Count })),
  names: v.exactOptional(Count),
});
/** Bytes of a file before a change, at most, for it to be kept. */
export const CHANGE_LIMIT = 10_000_000;
/** As chmod(2) has them. */
export const Mode = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(0o777));
const FileChange = v.object({
  /** As `workspace.resolve` gives it. */
  path: v.string(),
  /** What was there, in base64; null: nothing was. Absent where that is over the limit. */
  before: v.exactOptional(v.nullable(v.pipe(v.string(), v.maxLength(4 * Math.ceil(CHANGE_LIMIT / 3))))),
  /** SHA-256 of what is there now. */
  after: Sha256,
  /** Permission bits of what was there. */
  mode: v.exactOptional(Mode),
  /** Folders that were made for the file, the outermost first. */
  folders: v.exactOptional(v.array(v.string())),
});
const SeenList = v.array(v.tuple([v.string(), SeenFile]));
const Json = v.record(v.string(), v.unknown());
/** A host can say what it likes: what its tools are called by reaches the screen and the API. */
const Words = v.pipe(v.string(), v.transform(stripped), v.minLength(1), v.maxLength(20_000));
const InputSchema = v.pipe(
  Json,
  v.transform((schema) => JSON.stringify(schema, (_, value) => typeof value === "string" ? stripped(value) : value)),
  v.maxLength(100_000),
  v.transform((text): JsonSchema => JSON.parse(text)),
);

export const Loaded = v.object({
  definition: v.object({
    name: v.pipe(v.string(), v.regex(/^[a-zA-Z0-9_-]{1,64}$/)),
    description: Words,
    input_schema: InputSchema,
    strict: v.exactOptional(v.boolean()),
  }),
  permissions: v.object({
    read: v.exactOptional(v.boolean()),
    write: v.exactOptional(v.boolean()),
    run: v.exactOptional(v.boolean()),
    net: v.exactOptional(v.array(v.string())),
    env: v.exactOptional(v.array(v.string())),
  }),
  timeout_ms: v.pipe(v.number(), v.minValue(1), v.maxValue(610_000)),
  /** Only where it was asked for: the schema before anything was left out of it, and for each example why it does not pass, or null. */
  inspected: v.exactOptional(v.object({ input_schema: Json, examples: v.array(v.nullable(v.string())) })),
});

/** Bytes of one body that `context.fetch` sends or gets, at most. */
export const BODY_LIMIT = 10_000_000;
/** What `context.fetch` can do: the methods of the Fetch standard without those that it forbids. */
export const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

const Wanted = v.object({
  url: v.string(),
  method: v.picklist(METHODS),
  headers: v.array(v.tuple([v.string(), v.string()])),
  /** In base64. */
  body: v.exactOptional(v.pipe(v.string(), v.maxLength(4 * Math.ceil(BODY_LIMIT / 3)))),
});

/**
 * From a host. Ids are core's; one that is not open is ignored, and nothing a host says grants anything. What is none of these
 * ends the host: only its plugin can have said it.
 */
export const FromHost = v.variant("type", [
  v.object({ type: v.literal("ready"), tools: v.array(Loaded) }),
  v.object({ type: v.literal("failed"), problem: v.string() }),
  v.object({ type: v.literal("progress"), id: v.number(), text: v.string() }),
  /** What a plugin printed. */
  v.object({ type: v.literal("printed"), text: v.string() }),
  /** Of a call that is open, in a host that was granted addresses; `fetch` counts the requests of the call. */
  v.object({ type: v.literal("fetch"), id: v.number(), fetch: v.number(), wanted: Wanted }),
  v.object({ type: v.literal("abandon"), id: v.number(), fetch: v.number() }),
  v.object({
    type: v.literal("result"),
    id: v.number(),
    content: v.union([v.string(), v.array(v.variant("type", [Text, Image]))]),
    is_error: v.boolean(),
    seen: SeenList,
    proposal: v.exactOptional(v.union([
      v.object({ path: v.string(), diff: v.string() }),
      v.object({ command: v.string() }),
    ])),
    /** What a built-in tool changed through its workspace. */
    changes: v.exactOptional(v.array(FileChange)),
  }),
]);
export type FromHost = v.InferOutput<typeof FromHost>;

/** From a host that was told to `tellWrites`: it will make this temporary file once that is `noted`; none of that number is there any more. */
export const AboutWrite = v.variant("type", [
  v.object({ type: v.literal("writing"), write: v.number(), path: v.pipe(v.string(), v.maxLength(10_000)) }),
  v.object({ type: v.literal("written"), write: v.number() }),
]);
export type AboutWrite = v.InferOutput<typeof AboutWrite>;
/** A plugin that loaded, as core knows it: everything but its code. */
export type Loaded = v.InferOutput<typeof Loaded>;
export type FileChange = v.InferOutput<typeof FileChange>;
export type SeenList = v.InferOutput<typeof SeenList>;

/** Whether core would take it: a plugin may note what it likes. */
export function isSeenFile(value: unknown): boolean {
  return v.is(SeenFile, value);
}

/** What a host is for: built-in tools by name, or one plugin file (absolute path; `inspect` for `tenon check`). Without a grant it only loads. */
export interface HostStart {
  type: "start";
  plugins: { builtin: string[] } | { file: string; inspect?: true };
  grant?: Grant;
  /** The environment of programs that a tool starts; a host that is a process has it as its own. */
  env?: { [name: string]: string };
  /** Whether core notes temporary files; without it nothing is said of them. */
  tellWrites?: true;
}

export type ToHost =
  | HostStart
  /** With `preview` nothing is done: the result has a `proposal`, or the error that the call would have, or neither. */
  | { type: "call"; id: number; tool: string; input: unknown; seen: SeenList; preview?: true }
  | { type: "cancel"; id: number }
  | { type: "noted"; write: number }
  /** The answer to a `fetch`: the response with its body in base64, or why there is none. */
  | {
    type: "fetched";
    id: number;
    fetch: number;
    response?: { status: number; headers: [name: string, value: string][]; body: string };
    problem?: string;
  };

/** Either end of a connection. Messages are plain JSON values. */
export interface Channel {
  send(message: ToHost | FromHost | AboutWrite): void;
  /** Called once, before anything is sent. */
  receive(handle: (message: unknown) => void): void;
}
