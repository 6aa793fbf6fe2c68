import { reportedPrice } from './reported-price.ts';
import { type AnswerUsage, countIn, readUsageObject, type UsageReport } from './token-usage.ts';

/**
 * Reads `usage` of OpenAI responses. Returns null if no count was reported. OpenAI's `input_tokens`
 * includes the tokens read from and written to the cache. In the result, no token is counted twice.
 * `web_searches` is the number of searches, which is not part of `usage`.
 */
export function responsesUsage(reported: unknown, web_searches = 0): UsageReport {
  const usage = readUsageObject(reported);
  if (usage === null || usage === 'impossible') return usage;
  const { input_tokens, output_tokens, input_tokens_details: details } = usage;
  if (typeof input_tokens !== 'number' && typeof output_tokens !== 'number') return null;
  const reported_input = countIn(usage, 'input_tokens');
  const cached = countIn(details, 'cached_tokens');
  const written = countIn(details, 'cache_write_tokens');
  const output = countIn(usage, 'output_tokens');
  // xAI may not include cached tokens in `input_tokens`, but only in `total_tokens` (vercel/ai:
  // packages/xai/src/responses/convert-xai-responses-usage.test.ts).
  const isBeside =
    cached > reported_input && countIn(usage, 'total_tokens') === reported_input + cached + output;
  const input = isBeside ? reported_input + cached : reported_input;
  const reasoning = countIn(usage['output_tokens_details'], 'reasoning_tokens');
  if (cached + written > input || reasoning > output) return 'impossible';
  const paid = reportedPrice(usage);
  return {
    input_tokens: input - cached - written,
    cached_input_tokens: cached,
    cache_write_tokens: written,
    output_tokens: output,
    ...(web_searches > 0 ? { web_searches } : {}),
    ...(reasoning > 0 ? { reasoning_tokens: reasoning } : {}),
    ...(paid === undefined ? {} : { paid_nano_usd: paid }),
  };
}

/** Returns the usage as the member `usage` of a response. */
export function writeResponsesUsage(usage: AnswerUsage): object {
  const input_tokens = usage.input_tokens + usage.cached_input_tokens + usage.cache_write_tokens;
  return {
    input_tokens,
    input_tokens_details: {
      cached_tokens: usage.cached_input_tokens,
      cache_write_tokens: usage.cache_write_tokens,
    },
    output_tokens: usage.output_tokens,
    output_tokens_details: { reasoning_tokens: usage.reasoning_tokens ?? 0 },
    total_tokens: input_tokens + usage.output_tokens,
  };
}
