/** The shape of a request: which fields there are, and of which type; a field that is not here is refused. */

import * as v from "valibot";
import { refuse } from "./api_refusal.ts";

const Cache = v.nullish(
  v.strictObject({ type: v.literal("ephemeral"), ttl: v.optional(v.picklist(["5m", "1h"])) }),
);
const Loose = v.looseObject({});
/** Unlike `v.record`, no list. */
const JsonObject = v.custom<Record<string, unknown>>(
  (input) => typeof input === "object" && input !== null && !Array.isArray(input),
  "Input should be a valid dictionary",
);
const Id = v.pipe(v.string(), v.regex(/^[a-zA-Z0-9_-]+$/));
const Caller = v.optional(v.variant("type", [
  v.strictObject({ type: v.literal("direct") }),
  v.strictObject({ type: v.literal("code_execution_20250825"), tool_id: v.string() }),
  v.strictObject({ type: v.literal("code_execution_20260120"), tool_id: v.string() }),
]));

const Text = v.strictObject({
  type: v.literal("text"),
  text: v.string(),
  cache_control: Cache,
  citations: v.nullish(v.array(Loose)),
});
const Image = v.strictObject({
  type: v.literal("image"),
  source: v.variant("type", [
    v.strictObject({
      type: v.literal("base64"),
      data: v.string(),
      media_type: v.picklist(["image/jpeg", "image/png", "image/gif", "image/webp"]),
    }),
    v.strictObject({ type: v.literal("url"), url: v.string() }),
    v.strictObject({ type: v.literal("file"), file_id: v.string() }),
  ]),
  cache_control: Cache,
  transformations: v.nullish(v.strictObject({ oversized_image: v.optional(v.picklist(["downsize", "error"])) })),
});
const Document = v.strictObject({
  type: v.literal("document"),
  source: v.looseObject({ type: v.picklist(["base64", "text", "content", "url", "file"]) }),
  cache_control: Cache,
  citations: v.nullish(v.strictObject({ enabled: v.optional(v.boolean()) })),
  context: v.nullish(v.string()),
  title: v.nullish(v.string()),
});
const SearchResult = v.strictObject({
  type: v.literal("search_result"),
  content: v.array(Text),
  source: v.string(),
  title: v.string(),
  cache_control: Cache,
  citations: v.optional(v.strictObject({ enabled: v.optional(v.boolean()) })),
});
const ToolReference = v.strictObject({
  type: v.literal("tool_reference"),
  tool_name: v.string(),
  cache_control: Cache,
});

/** A string, or what `blocks` says; looked at by hand so that a refusal names the field inside. */
function textOr<const Schema extends v.GenericSchema>(blocks: Schema) {
  return v.lazy((input) => typeof input === "string" ? v.string() : blocks) as v.GenericSchema<
    string | v.InferInput<Schema>,
    string | v.InferOutput<Schema>
  >;
}

/** The results of server tools are opaque here but for their pairing. */
function serverResult<const Type extends string>(type: Type) {
  return v.strictObject({
    type: v.literal(type),
    tool_use_id: Id,
    content: v.unknown(),
    cache_control: Cache,
    caller: Caller,
  });
}

const Block = v.variant("type", [
  Text,
  Image,
  Document,
  SearchResult,
  v.strictObject({ type: v.literal("thinking"), thinking: v.string(), signature: v.string() }),
  v.strictObject({ type: v.literal("redacted_thinking"), data: v.string() }),
  v.strictObject({
    type: v.literal("tool_use"),
    id: Id,
    name: v.pipe(v.string(), v.regex(/^[a-zA-Z0-9_-]{1,128}$/)),
    input: JsonObject,
    cache_control: Cache,
    caller: Caller,
    toolset_name: v.nullish(v.string()),
  }),
  v.strictObject({
    type: v.literal("tool_result"),
    tool_use_id: Id,
    content: v.optional(textOr(v.array(v.variant("type", [Text, Image, Document, SearchResult, ToolReference])))),
    is_error: v.optional(v.boolean()),
    cache_control: Cache,
    toolset_name: v.nullish(v.string()),
  }),
  v.strictObject({
    type: v.literal("server_tool_use"),
    id: Id,
    name: v.string(),
    input: JsonObject,
    cache_control: Cache,
    caller: Caller,
  }),
  serverResult("web_search_tool_result"),
  serverResult("web_fetch_tool_result"),
  serverResult("code_execution_tool_result"),
  serverResult("bash_code_execution_tool_result"),
  serverResult("text_editor_code_execution_tool_result"),
  serverResult("tool_search_tool_result"),
  v.strictObject({ type: v.literal("container_upload"), file_id: v.string(), cache_control: Cache }),
]);

const CustomTool = v.strictObject({
  type: v.nullish(v.literal("custom")),
  name: v.pipe(v.string(), v.regex(/^[a-zA-Z0-9_-]{1,128}$/)),
  description: v.optional(v.string()),
  input_schema: v.looseObject({ type: v.literal("object") }),
  strict: v.optional(v.boolean()),
  cache_control: Cache,
  allowed_callers: v.optional(v.array(v.string())),
  defer_loading: v.optional(v.boolean()),
  eager_input_streaming: v.nullish(v.boolean()),
  input_examples: v.optional(v.array(JsonObject)),
});
const ApiTool = v.looseObject({
  type: v.pipe(v.string(), v.regex(/^(bash|browser|code_execution|computer|memory|text_editor|tool_search|web_)\w+$/)),
  name: v.optional(v.string()),
  cache_control: Cache,
});
const Tool = v.lazy((input) =>
  typeof input === "object" && input !== null && "type" in input && input.type !== null && input.type !== "custom"
    ? ApiTool
    : CustomTool
) as v.GenericSchema<v.InferInput<typeof CustomTool>, v.InferOutput<typeof CustomTool>>;

const Parallel = { disable_parallel_tool_use: v.optional(v.boolean()) };
const Display = { display: v.nullish(v.picklist(["summarized", "omitted"])) };

const FIELDS = {
  model: v.string(),
  max_tokens: v.pipe(v.number(), v.integer(), v.minValue(0)),
  cache_control: Cache,
  container: v.nullish(v.unknown()),
  diagnostics: v.nullish(v.strictObject({ previous_message_id: v.nullish(v.string()) })),
  inference_geo: v.nullish(v.string()),
  metadata: v.optional(v.strictObject({ user_id: v.nullish(v.pipe(v.string(), v.maxLength(256))) })),
  output_config: v.optional(v.strictObject({
    effort: v.nullish(v.picklist(["low", "medium", "high", "xhigh", "max"])),
    format: v.nullish(v.strictObject({ type: v.literal("json_schema"), schema: v.looseObject({}) })),
  })),
  service_tier: v.optional(v.picklist(["auto", "standard_only"])),
  speed: v.nullish(v.picklist(["standard", "fast"])),
  stop_sequences: v.optional(v.array(v.string())),
  stream: v.optional(v.boolean()),
  system: v.optional(textOr(v.array(Text))),
  thinking: v.optional(v.variant("type", [
    v.strictObject({ type: v.literal("enabled"), budget_tokens: v.pipe(v.number(), v.integer()), ...Display }),
    v.strictObject({ type: v.literal("adaptive"), ...Display }),
    v.strictObject({ type: v.literal("disabled") }),
    v.strictObject({ type: v.literal("between_tools") }),
  ])),
  tool_choice: v.optional(v.variant("type", [
    v.strictObject({ type: v.literal("auto"), ...Parallel }),
    v.strictObject({ type: v.literal("any"), ...Parallel }),
    v.strictObject({ type: v.literal("tool"), name: v.string(), ...Parallel }),
    v.strictObject({ type: v.literal("none") }),
  ])),
  tools: v.optional(v.array(Tool)),
};

const Probability = v.pipe(v.number(), v.minValue(0), v.maxValue(1));
/** Fields that API version 2026-10-21 no longer knows. */
const SAMPLING = {
  temperature: v.optional(Probability),
  top_p: v.optional(Probability),
  top_k: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
};

/** Fields that exist only with a value of `anthropic-beta` that begins so (the dates change). */
const BETA_FIELDS: Record<string, string> = {
  context_management: "context-management-",
  mcp_servers: "mcp-client-",
  output_format: "structured-outputs-",
  fallbacks: "server-side-fallback-",
};

/** What the shape depends on beside the body. */
export interface ShapeOptions {
  version: string;
  betas: readonly string[];
  /** Blocks of kinds unknown here that are let through: those that the API itself sent. */
  isOurs(block: unknown): boolean;
}

function requestShape({ version, betas, isOurs }: ShapeOptions) {
  // A block let through is typed as a known one: every rule looks at `type` first and finds none of its own.
  const block = v.lazy((input) => isOurs(input) ? Loose as unknown as typeof Block : Block);
  const content = textOr(v.array(block));
  return v.strictObject({
    ...FIELDS,
    messages: v.pipe(
      v.array(v.variant("role", [
        v.strictObject({ role: v.literal("user"), content }),
        v.strictObject({ role: v.literal("assistant"), content }),
        v.strictObject({ role: v.literal("system"), content: textOr(v.array(Text)) }),
      ])),
      v.maxLength(100_000),
    ),
    ...(version === "2026-10-21" ? {} as typeof SAMPLING : SAMPLING),
    ...Object.fromEntries(
      Object.entries(BETA_FIELDS).filter(([, beta]) => betas.some((given) => given.startsWith(beta)))
        .map(([field]) => [field, v.optional(v.unknown())]),
    ) as unknown as Record<never, never>,
  });
}

/** A request whose fields are all known and of the right type. */
export type Request = v.InferOutput<ReturnType<typeof requestShape>>;
/** A content block of a message. */
export type RequestBlock = v.InferOutput<typeof Block>;

/** The body, typed. Refuses at the first field that is unknown, missing or of a wrong type, and names it by its path. */
export function parseRequest(body: unknown, options: ShapeOptions): Request {
  const parsed = v.safeParse(requestShape(options), body, { abortEarly: true });
  if (parsed.success) return parsed.output;
  const issue = parsed.issues[0];
  const path = issue.path?.map((item) => String(item.key)).join(".") ?? "body";
  return refuse(`${path}: ${wordsFor(issue)}`);
}

function wordsFor(issue: v.BaseIssue<unknown>): string {
  if (issue.expected === "never") return "Extra inputs are not permitted";
  if (issue.received === "undefined") return "Field required";
  if (issue.type === "variant") {
    return `Input tag ${issue.received} does not match any of the expected: ${issue.expected}`;
  }
  if (issue.type === "regex") return `String should match pattern '${String(issue.requirement).slice(1, -1)}'`;
  if (issue.type === "custom") return issue.message;
  return `Input should be ${issue.expected}, not ${issue.received}`;
}
