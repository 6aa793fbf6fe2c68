import { isObject } from '../json/object.ts';
import { type AnswerUsage, countIn, readUsageObject, type UsageReport } from './token-usage.ts';

/**
 * Reads `usage` of Anthropic messages. In a stream, each event reports the sum so far, so a missing
 * count keeps the value that it has in `before`. Returns `before` if no usage was reported.
 * Anthropic's `input_tokens` excludes tokens read from or written to the cache, as in `TokenUsage`.
 */
export function anthropicUsage(reported: unknown, before: AnswerUsage | null): UsageReport {
  const usage = readUsageObject(reported);
  if (usage === null) return before;
  if (usage === 'impossible') return usage;
  const { input_tokens, output_tokens } = usage;
  if (typeof input_tokens !== 'number' && typeof output_tokens !== 'number') return before;
  const read = (from: unknown, name: string, previous = 0) =>
    isObject(from) && typeof from[name] === 'number' ? countIn(from, name) : previous;
  const cache_write_tokens = read(usage, 'cache_creation_input_tokens', before?.cache_write_tokens);
  const cache_write_1h_tokens = read(
    usage['cache_creation'],
    'ephemeral_1h_input_tokens',
    before?.cache_write_1h_tokens,
  );
  const output = read(usage, 'output_tokens', before?.output_tokens);
  const summary = summaryIn(usage['iterations']);
  const reasoning = read(
    usage['output_tokens_details'],
    'thinking_tokens',
    before?.reasoning_tokens,
  );
  const web_searches = read(usage['server_tool_use'], 'web_search_requests', before?.web_searches);
  if (cache_write_1h_tokens > cache_write_tokens || reasoning > output) return 'impossible';
  const known = {
    input_tokens: read(usage, 'input_tokens', before?.input_tokens),
    cached_input_tokens: read(usage, 'cache_read_input_tokens', before?.cached_input_tokens),
    cache_write_tokens,
    ...(cache_write_1h_tokens > 0 ? { cache_write_1h_tokens } : {}),
    ...(web_searches > 0 ? { web_searches } : {}),
    output_tokens: output,
    ...(reasoning > 0 ? { reasoning_tokens: reasoning } : {}),
  };
  if (!summary) return known;
  return {
    ...known,
    input_tokens: known.input_tokens + summary.input_tokens,
    output_tokens: known.output_tokens + summary.output_tokens,
  };
}

/**
 * Returns the tokens with which the provider summarised a long conversation. They are not part of
 * the counts of the message (Anthropic docs: Compaction). Input that was read from the cache or
 * written to it is charged as plain input.
 */
function summaryIn(
  iterations: unknown,
): Pick<AnswerUsage, 'input_tokens' | 'output_tokens'> | undefined {
  if (!Array.isArray(iterations)) return undefined;
  let [input_tokens, output_tokens] = [0, 0];
  for (const each of iterations) {
    if (!isObject(each) || each['type'] !== 'compaction') continue;
    input_tokens += countIn(each, 'input_tokens');
    input_tokens += countIn(each, 'cache_read_input_tokens');
    input_tokens += countIn(each, 'cache_creation_input_tokens');
    output_tokens += countIn(each, 'output_tokens');
  }
  return input_tokens + output_tokens > 0 ? { input_tokens, output_tokens } : undefined;
}

/**
 * Returns the member `usage` of a message, with all members that Anthropic's types require. All its
 * numbers are 0 if no usage is known.
 */
export function writeAnthropicUsage(usage: AnswerUsage | null): object {
  return {
    ...writeAnthropicDeltaUsage(usage),
    cache_creation: null,
    inference_geo: null,
    service_tier: 'standard',
    speed: null,
  };
}

/** Returns the member `usage` of the event `message_delta`. */
export function writeAnthropicDeltaUsage(usage: AnswerUsage | null): object {
  const thinking_tokens = usage?.reasoning_tokens;
  return {
    input_tokens: usage?.input_tokens ?? 0,
    cache_creation_input_tokens: usage?.cache_write_tokens ?? 0,
    cache_read_input_tokens: usage?.cached_input_tokens ?? 0,
    output_tokens: usage?.output_tokens ?? 0,
    output_tokens_details: thinking_tokens === undefined ? null : { thinking_tokens },
    server_tool_use: null,
  };
}
