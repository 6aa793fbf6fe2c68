import { isObject } from '../json/object.ts';
import { readTokenCount, type TokenUsage } from './token-usage.ts';

/**
 * Reads `usage` of OpenAI responses. Returns null if no count was reported. `input_tokens` of
 * OpenAI includes the tokens read from and written to the cache. The returned counts never overlap.
 */
export function responsesUsage(usage: unknown): TokenUsage | null {
  if (!isObject(usage)) return null;
  const { input_tokens, output_tokens } = usage;
  if (typeof input_tokens !== 'number' && typeof output_tokens !== 'number') return null;
  const details = isObject(usage['input_tokens_details']) ? usage['input_tokens_details'] : {};
  const input = readTokenCount(input_tokens);
  const cached = Math.min(readTokenCount(details['cached_tokens']), input);
  const written = Math.min(readTokenCount(details['cache_write_tokens']), input - cached);
  return {
    input_tokens: input - cached - written,
    cached_input_tokens: cached,
    cache_write_tokens: written,
    output_tokens: readTokenCount(output_tokens),
  };
}
