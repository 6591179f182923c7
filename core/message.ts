/** The words of the Messages API that tenon reads and writes. Types only; names as the API spells them. */

export interface TextBlock {
  type: "text";
  text: string;
}

export interface ImageBlock {
  type: "image";
  source: { type: "base64"; media_type: string; data: string };
}

/** What a tool may return, beside a plain string. */
export type Content = TextBlock | ImageBlock;

/** A call. It goes back to the API with every field it came with (`caller`, `toolset_name`, …). */
export interface ToolUseBlock {
  type: "tool_use";
  id: string;
  name: string;
  input: unknown;
}

/** The answer to one call. With `is_error` the API takes text only. */
export interface ToolResultBlock {
  type: "tool_result";
  tool_use_id: string;
  content: string | Content[];
  is_error?: boolean;
}

/** Goes back unchanged, with its signature: the API refuses an edited one. */
export interface ThinkingBlock {
  type: "thinking";
  thinking: string;
  signature: string;
}

/** Blocks of other kinds (redacted thinking, server tools, kinds to come) pass through as they came. */
export type Block = TextBlock | ImageBlock | ToolUseBlock | ToolResultBlock | ThinkingBlock;

export interface Message {
  role: "user" | "assistant";
  content: Block[];
}

/** Tokens of one request. `input_tokens` does not count what came from or went to the cache. */
export interface Usage {
  input_tokens: number;
  output_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
}

/** One answer of the model. `stop_reason` is the API's word, or tenon's own `interrupted`. */
export interface Reply {
  content: Block[];
  stop_reason: string;
  usage: Usage;
}
