import { isObject } from '../json/object.ts';
import { readTokenCount, type TokenUsage } from './token-usage.ts';

/**
 * Reads `usage` of Anthropic messages. The counts of a stream are cumulative, so a missing count
 * keeps the value that it has in `before`. Returns null if no usage was reported yet. Anthropic's
 * `input_tokens` excludes tokens read from or written to the cache, as in {@link TokenUsage}.
 */
export function anthropicUsage(usage: unknown, before: TokenUsage | null): TokenUsage | null {
  if (!isObject(usage)) return before;
  const { input_tokens, output_tokens } = usage;
  if (typeof input_tokens !== 'number' && typeof output_tokens !== 'number') return before;
  const read = (key: string, previous: number | undefined) =>
    typeof usage[key] === 'number' ? readTokenCount(usage[key]) : (previous ?? 0);
  const cache_write_tokens = read('cache_creation_input_tokens', before?.cache_write_tokens);
  const cache_write_1h_tokens = Math.min(
    cache_write_tokens,
    read1hCacheTokens(usage['cache_creation']) ?? before?.cache_write_1h_tokens ?? 0,
  );
  return {
    input_tokens: read('input_tokens', before?.input_tokens),
    cached_input_tokens: read('cache_read_input_tokens', before?.cached_input_tokens),
    cache_write_tokens,
    ...(cache_write_1h_tokens > 0 ? { cache_write_1h_tokens } : {}),
    output_tokens: read('output_tokens', before?.output_tokens),
  };
}

function read1hCacheTokens(creation: unknown): number | undefined {
  const tokens = isObject(creation) ? creation['ephemeral_1h_input_tokens'] : undefined;
  return typeof tokens === 'number' ? readTokenCount(tokens) : undefined;
}
