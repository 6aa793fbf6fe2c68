import { isObject } from '../json/object.ts';
import { type AnswerUsage, readTokenCount, type TokenUsage } from './token-usage.ts';

/**
 * Reads `usageMetadata` of Gemini. Returns null if no usage was reported. Gemini counts thinking
 * tokens apart from the answer's tokens. Weir counts thinking tokens and answer tokens as output
 * tokens.
 */
export function geminiUsage(value: unknown): AnswerUsage | null {
  if (!isObject(value)) return null;
  const { promptTokenCount, candidatesTokenCount } = value;
  if (typeof promptTokenCount !== 'number' && typeof candidatesTokenCount !== 'number') return null;
  const cached = Math.min(
    readTokenCount(value['cachedContentTokenCount']),
    readTokenCount(promptTokenCount),
  );
  const thoughts = readTokenCount(value['thoughtsTokenCount']);
  const usage: TokenUsage = {
    input_tokens:
      readTokenCount(promptTokenCount) + readTokenCount(value['toolUsePromptTokenCount']) - cached,
    cached_input_tokens: cached,
    cache_write_tokens: 0,
    output_tokens: readTokenCount(candidatesTokenCount) + thoughts,
  };
  return thoughts > 0 ? { ...usage, reasoning_tokens: thoughts } : usage;
}

/** Returns the usage as Gemini's `usageMetadata`. */
export function usageMetadata(usage: AnswerUsage): object {
  const promptTokenCount =
    usage.input_tokens + usage.cached_input_tokens + usage.cache_write_tokens;
  const thoughts = usage.reasoning_tokens ?? 0;
  return {
    promptTokenCount,
    candidatesTokenCount: usage.output_tokens - thoughts,
    ...(usage.cached_input_tokens > 0
      ? { cachedContentTokenCount: usage.cached_input_tokens }
      : {}),
    ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
    totalTokenCount: promptTokenCount + usage.output_tokens,
  };
}
