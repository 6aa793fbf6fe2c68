import { isObject } from '../../json/object.ts';
import { possible, readCount } from '../../protocols/token-usage.ts';
import { searchesIn } from '../pass-through/web-search.ts';

/** Returns the charged text of the output items: all text that the model wrote. */
export function producedByItems(output: readonly unknown[]): string {
  return output.map((item) => textsIn(item, 0)).join('');
}

/** Members of items that hold the model's text. Ids, types and states are not the model's text. */
const TEXT_MEMBERS = ['text', 'refusal', 'arguments', 'input', 'code', 'name', 'query'];
const NESTED_MEMBERS = ['content', 'summary', 'action'];
const MAX_DEPTH = 4;

function textsIn(value: unknown, depth: number): string {
  if (depth > MAX_DEPTH) return '';
  if (Array.isArray(value)) return value.map((each) => textsIn(each, depth + 1)).join('');
  if (!isObject(value)) return '';
  let texts = '';
  for (const key of TEXT_MEMBERS) if (typeof value[key] === 'string') texts += value[key];
  for (const key of NESTED_MEMBERS) texts += textsIn(value[key], depth + 1);
  return texts;
}

/**
 * Returns an `error` of OpenAI responses as JSON with the structure of OpenAI's HTTP error bodies:
 * `{"error": …}`. So the same code classifies both.
 */
export function asEnvelope(error: unknown): string {
  const { code, message, param } = isObject(error) ? error : {};
  return JSON.stringify({ error: { type: code, code, message, param } });
}

/**
 * Returns the web searches that the provider bills for a response. If it does not report them, the
 * searches in the output count.
 */
export function webSearchesIn({ output, tool_usage }: Readonly<Record<string, unknown>>): number {
  const search = isObject(tool_usage) ? tool_usage['web_search'] : undefined;
  const reported = isObject(search) ? readCount(search['num_requests']) : null;
  return possible(reported) ?? searchesIn(Array.isArray(output) ? output : []);
}
