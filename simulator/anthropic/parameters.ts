import { isGiven, isObject, type JsonObject } from '../shared/json.ts';
import { invalid } from './errors.ts';

/**
 * Checks the top-level parameters of the messages endpoint, as the endpoint does (Anthropic docs:
 * Messages).
 */

type Kind = 'string' | 'boolean' | 'integer' | 'number' | 'array' | 'object' | 'any';

const PARAMETERS: Record<string, Kind> = {
  model: 'string',
  messages: 'array',
  max_tokens: 'integer',
  billing_policy: 'object',
  cache_control: 'object',
  compaction: 'object',
  container: 'any',
  context_management: 'object',
  diagnostics: 'object',
  fallback_credit_token: 'any',
  fallbacks: 'any',
  inference_geo: 'string',
  mcp_servers: 'array',
  metadata: 'object',
  output_config: 'object',
  output_format: 'object',
  service_tier: 'string',
  speed: 'string',
  stop_sequences: 'array',
  stream: 'boolean',
  system: 'any',
  temperature: 'number',
  thread: 'object',
  thinking: 'object',
  tool_choice: 'object',
  tools: 'array',
  top_k: 'integer',
  top_p: 'number',
  user_profile_id: 'string',
  workspace_id: 'string',
};

const EXPECTED: Record<Kind, string> = {
  string: 'Input should be a valid string',
  boolean: 'Input should be a valid boolean',
  integer: 'Input should be a valid integer',
  number: 'Input should be a valid number',
  array: 'Input should be a valid list',
  object: 'Input should be a valid dictionary',
  any: '',
};

const SAMPLING = ['temperature', 'top_p', 'top_k'];
/** The first `anthropic-version` that accepts no sampling parameters. */
const WITHOUT_SAMPLING = '2026-10-21';
const MIN_THINKING_TOKENS = 1024;

/** @throws {ProviderError} for the first member that the endpoint would refuse. */
export function checkParameters(body: JsonObject, version: string, required: string[]): void {
  for (const name of required) if (!isGiven(body[name])) throw invalid(`${name}: Field required`);
  for (const name in body) {
    if (!Object.hasOwn(PARAMETERS, name)) throw extra(name);
    const kind = PARAMETERS[name] as Kind;
    if (isGiven(body[name]) && !isKind(body[name], kind)) expected(name, EXPECTED[kind]);
  }
  checkRanges(body);
  if (version === WITHOUT_SAMPLING) {
    for (const name of SAMPLING) if (isGiven(body[name])) throw extra(name);
  }
  checkThinking(body);
  checkFallbacks(body['fallbacks']);
}

function extra(name: string): Error {
  return invalid(`${name}: Extra inputs are not permitted`);
}

/** @throws {ProviderError} "`name`: Input should be …" */
export function expected(name: string, expectation: string): never {
  throw invalid(`${name}: ${expectation}`);
}

function checkRanges(body: JsonObject): void {
  const { max_tokens, temperature, top_p, top_k } = body;
  atLeast('max_tokens', max_tokens, 1);
  atLeast('temperature', temperature, 0);
  atMost('temperature', temperature, 1);
  atLeast('top_p', top_p, 0);
  atMost('top_p', top_p, 1);
  atLeast('top_k', top_k, 0);
}

function atLeast(name: string, value: unknown, minimum: number): void {
  if (typeof value === 'number' && value < minimum) {
    expected(name, `Input should be greater than or equal to ${minimum}`);
  }
}

function atMost(name: string, value: unknown, maximum: number): void {
  if (typeof value === 'number' && value > maximum) {
    expected(name, `Input should be less than or equal to ${maximum}`);
  }
}

/** A list of models, or the word `default` (@anthropic-ai/sdk 1.11.0: `BetaFallbacksParam`). */
function checkFallbacks(fallbacks: unknown): void {
  if (!isGiven(fallbacks) || fallbacks === 'default') return;
  if (!Array.isArray(fallbacks)) expected('fallbacks', EXPECTED.array);
  for (const [index, each] of fallbacks.entries()) {
    if (!isObject(each)) expected(`fallbacks.${index}`, EXPECTED.object);
    if (typeof each['model'] !== 'string') expected(`fallbacks.${index}.model`, 'Field required');
  }
}

/**
 * Models that refuse a budget of thinking tokens (anthropics/claude-code issue 49219, microsoft/vscode
 * issue 320605, Kilo-Org/kilocode issue 12526).
 */
const WITHOUT_BUDGETS = /claude-opus-(?:4-[78]|5)/;

function checkThinking(body: JsonObject): void {
  const { thinking, max_tokens } = body;
  if (!isObject(thinking)) return;
  const { type, budget_tokens } = thinking;
  if (!['enabled', 'disabled', 'adaptive', 'between_tools'].includes(type as string)) {
    throw invalid(
      `thinking: Input tag '${type}' found using 'type' does not match any of the expected tags: 'adaptive', 'between_tools', 'disabled', 'enabled'`,
    );
  }
  if (type !== 'enabled') return;
  if (WITHOUT_BUDGETS.test(String(body['model']))) {
    throw invalid(
      '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
    );
  }
  if (!isGiven(budget_tokens)) throw invalid('thinking.enabled.budget_tokens: Field required');
  atLeast('thinking.enabled.budget_tokens', budget_tokens, MIN_THINKING_TOKENS);
  if (typeof max_tokens === 'number' && (budget_tokens as number) >= max_tokens) {
    throw invalid(
      '`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size',
    );
  }
}

function isKind(value: unknown, kind: Kind): boolean {
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
