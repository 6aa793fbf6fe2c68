/**
 * The tokens of one call. `input_tokens`, `cached_input_tokens` and `cache_write_tokens` never
 * count the same token.
 */
export interface TokenUsage {
  input_tokens: number;
  cached_input_tokens: number;
  cache_write_tokens: number;
  /**
   * The part of `cache_write_tokens` that is cached for one hour. These tokens have a higher price
   * (Anthropic docs: Prompt caching).
   */
  cache_write_1h_tokens?: number;
  /** Includes reasoning tokens. */
  output_tokens: number;
}

/** The tokens of an answer, with its reasoning tokens if the upstream reported them. */
export interface AnswerUsage extends TokenUsage {
  readonly reasoning_tokens?: number;
}

/**
 * The highest count that Weir accepts. No model has a context of so many tokens, so a higher count
 * is an error of the upstream.
 */
const MAX_REPORTED_TOKENS = 20_000_000;

/**
 * Returns a reported count, but at most `MAX_REPORTED_TOKENS`. Returns 0 if the value is not a
 * positive integer.
 */
export function readTokenCount(value: unknown): number {
  const isCount = typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
  return isCount ? Math.min(value, MAX_REPORTED_TOKENS) : 0;
}
