import { isObject } from '../../json/object.ts';

/** All text of the output items that is charged. */
export function producedByItems(output: readonly unknown[]): string {
  return output.map((item) => textsIn(item, 0)).join('');
}

/** Members of items that hold the model's text. Ids, types and states are not the model's text. */
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

/** Returns an error of this protocol in OpenAI's error envelope. */
export function asEnvelope(error: unknown): string {
  const { code, message, param } = isObject(error) ? error : {};
  return JSON.stringify({ error: { type: code, code, message, param } });
}
