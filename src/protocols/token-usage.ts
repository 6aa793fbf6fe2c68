/** Tokens of one call. Counts never overlap: `input_tokens` excludes both cache counts. */
export interface TokenUsage {
  input_tokens: number;
  cached_input_tokens: number;
  cache_write_tokens: number;
  /** Of those, what is kept for an hour, which costs more (Anthropic docs: Prompt caching). */
  cache_write_1h_tokens?: number;
  /** Reasoning included. */
  output_tokens: number;
}

/** Tokens as metered, and how many of the output were thinking, where that was said. */
export interface AnswerUsage extends TokenUsage {
  readonly reasoning_tokens?: number;
}

/** More tokens than any model reads or writes: whoever reports more is mistaken. */
const MAX_REPORTED_TOKENS = 20_000_000;

/** A count that an upstream reported, within reason; anything else counts as zero. */
export function count(value: unknown): number {
  const isCount = typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
  return isCount ? Math.min(value, MAX_REPORTED_TOKENS) : 0;
}
