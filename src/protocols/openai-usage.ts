import { isObject } from '../json/object.ts';
import { reportedPrice } from './reported-price.ts';
import { type AnswerUsage, countIn, readUsageObject, type UsageReport } from './token-usage.ts';

/**
 * Names of the cached tokens that some vendors report beside `prompt_tokens`: Moonshot
 * (@ai-sdk/moonshotai 3.0.60), DeepSeek (@ai-sdk/deepseek 3.0.56), Mistral (@ai-sdk/mistral 4.0.87).
 */
const CACHED = ['cached_tokens', 'prompt_cache_hit_tokens', 'num_cached_tokens'];
/** OpenAI's name, and that of Alibaba (@ai-sdk/alibaba 2.0.58). */
const WRITTEN = ['cache_write_tokens', 'cache_creation_input_tokens'];

/** Returns the first of the named counts that is reported; undefined if none is. */
function firstCount(object: unknown, names: readonly string[]): number | undefined {
  if (!isObject(object)) return undefined;
  for (const name of names) {
    const value = object[name];
    if (typeof value === 'number') return value;
  }
  return undefined;
}

/**
 * Reads `usage` of chat completions. Returns null if no count was reported; a reported zero is a
 * count. OpenAI's `prompt_tokens` includes audio and the tokens read from and written to the cache.
 * In the result, no token is counted twice.
 */
export function openaiUsage(reported: unknown): UsageReport {
  const usage = readUsageObject(reported);
  if (usage === null || usage === 'impossible') return usage;
  const { prompt_tokens, completion_tokens } = usage;
  // Mistral also writes `prompt_token_details`.
  const details = usage['prompt_tokens_details'] ?? usage['prompt_token_details'];
  if (typeof prompt_tokens !== 'number' && typeof completion_tokens !== 'number') return null;
  const reported_prompt = countIn(usage, 'prompt_tokens');
  const cached = firstCount(usage, CACHED) ?? countIn(details, 'cached_tokens');
  const written = firstCount(details, WRITTEN) ?? 0;
  const audio = countIn(details, 'audio_tokens');
  const completion = countIn(usage, 'completion_tokens');
  const reasoning = countIn(usage['completion_tokens_details'], 'reasoning_tokens');
  const total = countIn(usage, 'total_tokens');
  // xAI may not include cached tokens in `prompt_tokens`, but only in `total_tokens` (vercel/ai:
  // packages/xai/src/convert-xai-chat-usage.test.ts).
  const rest = total - reported_prompt - cached;
  const isBeside =
    cached > reported_prompt && (rest === completion || rest === completion + reasoning);
  const prompt = isBeside ? reported_prompt + cached : reported_prompt;
  if (cached + written > prompt || audio > prompt) return 'impossible';
  // Some servers do not include reasoning tokens in `completion_tokens`, but only in
  // `total_tokens`.
  const isExcluded = reasoning > 0 && total === prompt + completion + reasoning;
  if (reasoning > completion && !isExcluded) return 'impossible';
  const input_tokens = prompt - cached - written;
  const result: AnswerUsage = {
    input_tokens,
    cached_input_tokens: cached,
    cache_write_tokens: written,
    output_tokens: isExcluded ? completion + reasoning : completion,
  };
  if (audio > 0) result.audio_input_tokens = Math.min(audio, input_tokens);
  if (reasoning > 0) result.reasoning_tokens = reasoning;
  const paid = reportedPrice(usage);
  if (paid !== undefined) result.paid_nano_usd = paid;
  return result;
}

/** Returns the usage as the member `usage` of a chat completion. */
export function writeOpenaiUsage(usage: AnswerUsage): object {
  const prompt_tokens = usage.input_tokens + usage.cached_input_tokens + usage.cache_write_tokens;
  const { output_tokens, reasoning_tokens } = usage;
  return {
    prompt_tokens,
    completion_tokens: output_tokens,
    total_tokens: prompt_tokens + output_tokens,
    prompt_tokens_details: { cached_tokens: usage.cached_input_tokens },
    ...(reasoning_tokens === undefined ? {} : { completion_tokens_details: { reasoning_tokens } }),
  };
}
