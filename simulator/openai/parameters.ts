import { isGiven, isObject, type JsonObject } from '../shared/json.ts';
import { invalid } from './errors.ts';

/**
 * Checks the top-level parameters of chat completions, as the endpoint does (OpenAI docs: Chat).
 */

type Rule =
  | { kind: 'number'; min: number; max: number }
  | { kind: 'integer'; min: number; max?: number }
  | { kind: 'string'; values?: string[] }
  | { kind: 'boolean' | 'array' | 'object' | 'any' };

const ANY: Rule = { kind: 'any' };
const BOOLEAN: Rule = { kind: 'boolean' };
const STRING: Rule = { kind: 'string' };
const ARRAY: Rule = { kind: 'array' };
const OBJECT: Rule = { kind: 'object' };
const oneOf = (...values: string[]): Rule => ({ kind: 'string', values });

const PARAMETERS: Record<string, Rule> = {
  messages: ARRAY,
  model: STRING,
  audio: OBJECT,
  frequency_penalty: { kind: 'number', min: -2, max: 2 },
  function_call: ANY,
  functions: ARRAY,
  logit_bias: OBJECT,
  logprobs: BOOLEAN,
  // The API requires at least 1. The test suites of OpenAI's SDKs send 0. Here 0 gives an empty
  // answer.
  max_completion_tokens: { kind: 'integer', min: 0 },
  max_tokens: { kind: 'integer', min: 0 },
  metadata: OBJECT,
  modalities: ARRAY,
  moderation: OBJECT,
  n: { kind: 'integer', min: 1, max: 128 },
  parallel_tool_calls: BOOLEAN,
  prediction: OBJECT,
  presence_penalty: { kind: 'number', min: -2, max: 2 },
  prompt_cache_key: STRING,
  prompt_cache_options: OBJECT,
  prompt_cache_retention: STRING,
  reasoning_effort: oneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
  response_format: OBJECT,
  safety_identifier: STRING,
  seed: { kind: 'integer', min: Number.MIN_SAFE_INTEGER },
  service_tier: oneOf('auto', 'default', 'flex', 'scale', 'priority', 'fast'),
  stop: ANY,
  store: BOOLEAN,
  stream: BOOLEAN,
  stream_options: OBJECT,
  temperature: { kind: 'number', min: 0, max: 2 },
  tool_choice: ANY,
  tools: ARRAY,
  top_logprobs: { kind: 'integer', min: 0, max: 20 },
  top_p: { kind: 'number', min: 0, max: 1 },
  user: STRING,
  verbosity: oneOf('low', 'medium', 'high'),
  web_search_options: OBJECT,
};

const ARTICLES: Record<Rule['kind'], string> = {
  number: 'a decimal',
  integer: 'an integer',
  string: 'a string',
  boolean: 'a boolean',
  array: 'an array',
  object: 'an object',
  any: 'a value',
};

/** @throws {ProviderError} for the first member that the endpoint would refuse. */
export function checkParameters(body: JsonObject): void {
  for (const name in body) {
    if (!Object.hasOwn(PARAMETERS, name)) {
      throw invalid(`Unknown parameter: '${name}'.`, name, 'unknown_parameter');
    }
    const value = body[name];
    if (isGiven(value)) check(name, value, PARAMETERS[name] as Rule);
  }
  for (const name of ['model', 'messages']) {
    if (!isGiven(body[name])) throw missing(name);
  }
}

export function missing(name: string): Error {
  return invalid(`Missing required parameter: '${name}'.`, name, 'missing_required_parameter');
}

/**
 * Returns an error such as "Invalid type for 'n': expected an integer, but got a string instead."
 */
export function wrongType(name: string, expected: string, value: unknown): Error {
  return invalid(
    `Invalid type for '${name}': expected ${expected}, but got ${described(value)} instead.`,
    name,
    'invalid_type',
  );
}

export function unsupported(name: string, value: unknown, values: string[]): Error {
  const quoted = values.map((supported) => `'${supported}'`);
  const list = `${quoted.slice(0, -1).join(', ')}, and ${quoted.at(-1)}`;
  return invalid(
    `Invalid value: '${value}'. Supported values are: ${list}.`,
    name,
    'invalid_value',
  );
}

function check(name: string, value: unknown, rule: Rule): void {
  if (!isKind(value, rule.kind)) throw wrongType(name, ARTICLES[rule.kind], value);
  if (rule.kind === 'string' && rule.values && !rule.values.includes(value as string)) {
    throw unsupported(name, value, rule.values);
  }
  if (rule.kind === 'number' || rule.kind === 'integer') checkRange(name, value as number, rule);
}

function checkRange(
  name: string,
  value: number,
  rule: { kind: string; min: number; max?: number },
): void {
  const noun = rule.kind === 'integer' ? 'integer' : 'decimal';
  if (value < rule.min) {
    throw invalid(
      `Invalid '${name}': ${noun} below minimum value. Expected a value >= ${rule.min}, but got ${value} instead.`,
      name,
      `${noun}_below_min_value`,
    );
  }
  if (rule.max !== undefined && value > rule.max) {
    throw invalid(
      `Invalid '${name}': ${noun} above maximum value. Expected a value <= ${rule.max}, but got ${value} instead.`,
      name,
      `${noun}_above_max_value`,
    );
  }
}

function isKind(value: unknown, kind: Rule['kind']): boolean {
  switch (kind) {
    case 'any':
      return true;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === kind;
  }
}

function described(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'an integer' : 'a decimal';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
