/** What each model takes, as far as a request can be refused for it. */

export interface ModelRules {
  /** Highest `max_tokens`. */
  maxTokens: number;
  /** Tokens of the whole prompt. */
  contextTokens: number;
  /** The values of `thinking.type` that are not refused. */
  thinking: readonly string[];
  /** Whether a conversation may end in an assistant message. */
  prefill: boolean;
  /** Whether `temperature`, `top_p` and `top_k` are taken (by API versions that still know them). */
  sampling: boolean;
  /** Whether `output_config.effort` is taken. */
  effort: boolean;
  /** Whether `system` messages are taken within `messages`. */
  systemMessages: boolean;
}

const ALWAYS_THINKING: ModelRules = {
  maxTokens: 128_000,
  contextTokens: 1_000_000,
  thinking: ["adaptive"],
  prefill: false,
  sampling: false,
  effort: true,
  systemMessages: true,
};
const ADAPTIVE: ModelRules = { ...ALWAYS_THINKING, thinking: ["adaptive", "disabled"] };
const BOTH: ModelRules = {
  ...ADAPTIVE,
  thinking: ["adaptive", "enabled", "disabled"],
  sampling: true,
  systemMessages: false,
};
const EXTENDED: ModelRules = {
  maxTokens: 64_000,
  contextTokens: 200_000,
  thinking: ["enabled", "disabled"],
  prefill: true,
  sampling: true,
  effort: false,
  systemMessages: false,
};

/**
 * The models that the SDK's types name. Limits and thinking modes are those of the model overview pages
 * (platform.claude.com/docs/en/models); where those are silent, a model is like its neighbour.
 * `fake-model` is as strict as the newest ones but takes every kind of thinking; `fake-old-model` takes prefill.
 */
export const MODELS: Readonly<Record<string, ModelRules>> = {
  "fake-model": { ...ALWAYS_THINKING, maxTokens: 64_000, contextTokens: 200_000, thinking: BOTH.thinking },
  "fake-old-model": EXTENDED,
  "claude-fable-5-2": ALWAYS_THINKING,
  "claude-mythos-5-2": ALWAYS_THINKING,
  "claude-haiku-5-5": ADAPTIVE,
  "claude-sonnet-5-5": ALWAYS_THINKING,
  "claude-fable-5-1": ALWAYS_THINKING,
  "claude-opus-5-5": ALWAYS_THINKING,
  "claude-mythos-5-1": ALWAYS_THINKING,
  "claude-sonnet-5": ADAPTIVE,
  "claude-fable-5": ALWAYS_THINKING,
  "claude-mythos-5": ALWAYS_THINKING,
  "claude-opus-5": ADAPTIVE,
  "claude-opus-4-8": ADAPTIVE,
  "claude-opus-4-7": ADAPTIVE,
  "claude-mythos-preview": BOTH,
  "claude-opus-4-6": BOTH,
  "claude-sonnet-4-6": { ...BOTH, maxTokens: 64_000 },
  "claude-haiku-4-5": EXTENDED,
  "claude-haiku-4-5-20251001": EXTENDED,
  "claude-opus-4-5": { ...EXTENDED, effort: true },
  "claude-opus-4-5-20251101": { ...EXTENDED, effort: true },
  "claude-sonnet-4-5": EXTENDED,
  "claude-sonnet-4-5-20250929": EXTENDED,
};
