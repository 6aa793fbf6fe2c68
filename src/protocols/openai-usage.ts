import { isObject } from '../json/object.ts';
import { readTokenCount, type TokenUsage } from './token-usage.ts';

/**
 * Reads `usage` of chat completions. Returns null if no count was reported. A reported zero is a
 * count. `prompt_tokens` includes the tokens read from and written to the cache. The returned
 * counts never overlap.
 */
export function openaiUsage(usage: unknown): TokenUsage | null {
  if (!isObject(usage)) return null;
  const { prompt_tokens, completion_tokens, total_tokens } = usage;
  if (typeof prompt_tokens !== 'number' && typeof completion_tokens !== 'number') return null;
  const details = isObject(usage['prompt_tokens_details']) ? usage['prompt_tokens_details'] : {};
  const prompt = readTokenCount(prompt_tokens);
  const cached = Math.min(readTokenCount(details['cached_tokens']), prompt);
  const written = Math.min(readTokenCount(details['cache_write_tokens']), prompt - cached);
  const completion = readTokenCount(completion_tokens);
  const reasoning = isObject(usage['completion_tokens_details'])
    ? readTokenCount(usage['completion_tokens_details']['reasoning_tokens'])
    : 0;
  // Some servers do not include reasoning tokens in `completion_tokens`, but only in
  // `total_tokens`.
  const isExcluded =
    reasoning > 0 && readTokenCount(total_tokens) === prompt + completion + reasoning;
  return {
    input_tokens: prompt - cached - written,
    cached_input_tokens: cached,
    cache_write_tokens: written,
    output_tokens: isExcluded ? completion + reasoning : completion,
  };
}
