import type { TokenUsage } from './contract.ts';
import { count, isObject } from './http.ts';

/** Reads `usage`; null if it reports nothing. `input_tokens` includes what the cache gave or took. */
export function responsesUsage(usage: unknown): TokenUsage | null {
  if (!isObject(usage)) return null;
  const { input_tokens, output_tokens } = usage;
  if (typeof input_tokens !== 'number' && typeof output_tokens !== 'number') return null;
  const details = isObject(usage['input_tokens_details']) ? usage['input_tokens_details'] : {};
  const input = count(input_tokens);
  const cached = Math.min(count(details['cached_tokens']), input);
  const written = Math.min(count(details['cache_write_tokens']), input - cached);
  return {
    input_tokens: input - cached - written,
    cached_input_tokens: cached,
    cache_write_tokens: written,
    output_tokens: count(output_tokens),
  };
}

/** All text of the items that was produced and is paid for. */
export function producedByItems(output: readonly unknown[]): string {
  return output.map((item) => textsIn(item, 0)).join('');
}

/** Members of items that hold what a model wrote; ids, types and states are not its words. */
const WRITTEN = ['text', 'refusal', 'arguments', 'input', 'code', 'name', 'query'];
const NESTED = ['content', 'summary', 'action'];
const MAX_DEPTH = 4;

function textsIn(value: unknown, depth: number): string {
  if (depth > MAX_DEPTH) return '';
  if (Array.isArray(value)) return value.map((each) => textsIn(each, depth + 1)).join('');
  if (!isObject(value)) return '';
  let texts = '';
  for (const key of WRITTEN) if (typeof value[key] === 'string') texts += value[key];
  for (const key of NESTED) texts += textsIn(value[key], depth + 1);
  return texts;
}

/** What an error of this protocol says, in the envelope of the others. */
export function asEnvelope(said: unknown): string {
  const { code, message, param } = isObject(said) ? said : {};
  return JSON.stringify({ error: { type: code, code, message, param } });
}
