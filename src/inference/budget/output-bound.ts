import { isObject } from '../../json/object.ts';
import type { ClientProtocol } from '../../protocols/names.ts';

type Body = Readonly<Record<string, unknown>>;

/** The names of the output limit in each protocol. Gemini's names are in `generationConfig`. */
const OWN_LIMITS: Readonly<Record<ClientProtocol, readonly string[]>> = {
  openai: ['max_completion_tokens', 'max_tokens'],
  anthropic: ['max_tokens'],
  responses: ['max_output_tokens'],
  gemini: [],
};
const LIMITS = ['max_completion_tokens', 'max_tokens', 'max_output_tokens'];
/** Names of the parameter for the number of answers. Every answer is billed as output. */
const ANSWERS = ['n', 'best_of'];
/** Gemini accepts each name in camel case and in snake case (protobuf: JSON mapping). */
const CONFIGS = ['generationConfig', 'generation_config'];
const CONFIG_LIMITS = ['maxOutputTokens', 'max_output_tokens'];
const CONFIG_ANSWERS = ['candidateCount', 'candidate_count'];
/** The number of answers that is assumed if the value is no positive integer (OpenAI docs: `n`). */
const MAX_ANSWERS = 128;

/** The most output tokens of a call. Reasoning is part of the output. */
export interface OutputBound {
  /** The most output tokens of one answer. */
  readonly tokens_per_answer: number;
  /** The number of answers. */
  readonly answers: number;
  /** Output tokens that a provider may bill in addition to the answers. */
  readonly extra_tokens: number;
}

/**
 * Returns the upper bound of the output that a request allows.
 *
 * If the request has several names of the limit, the largest value counts, because an upstream may
 * use any of them. A name of another protocol cannot lower the bound, because the upstream may
 * ignore the name. Without a limit in the client's own protocol, the model's maximum counts. A limit
 * that is not a positive integer counts as the model's maximum.
 */
export function outputBound(
  protocol: ClientProtocol,
  body: Body,
  model_max_tokens: number,
): OutputBound {
  const configs = configsOf(body);
  const isLimited =
    protocol === 'gemini'
      ? configs.length > 0 && configs.every(hasLimit)
      : largest(body, OWN_LIMITS[protocol], model_max_tokens) > 0;
  let limit = largest(body, LIMITS, model_max_tokens);
  for (const config of configs)
    limit = Math.max(limit, largest(config, CONFIG_LIMITS, model_max_tokens));
  return {
    tokens_per_answer:
      isLimited && limit > 0 ? Math.min(limit, model_max_tokens) : model_max_tokens,
    answers: answersOf(body, configs),
    extra_tokens: predictionTokens(body),
  };
}

/** Returns the most answers that a request may produce: the largest value of all its names. */
export function answersOf(body: Body, configs = configsOf(body)): number {
  let answers = Math.max(1, largest(body, ANSWERS, MAX_ANSWERS));
  for (const config of configs)
    answers = Math.max(answers, largest(config, CONFIG_ANSWERS, MAX_ANSWERS));
  return answers;
}

function configsOf(body: Body): Body[] {
  const configs: Body[] = [];
  for (const name of CONFIGS) {
    const config = body[name];
    if (isObject(config)) configs.push(config);
  }
  return configs;
}

/**
 * True if a config of Gemini has a limit, whichever of its names an upstream uses. If a body has two
 * configs, each of them needs a limit.
 */
function hasLimit(config: Body): boolean {
  const values = CONFIG_LIMITS.filter((name) => config[name] !== undefined);
  return values.length > 0 && values.every((name) => config[name] !== null);
}

/**
 * Returns the largest of the named values. A value that is not a positive integer counts as
 * `fallback`. Returns 0 if no member has a value.
 */
function largest(object: Body, names: readonly string[], fallback: number): number {
  let found = 0;
  for (const name of names) {
    const value = object[name];
    if (value === undefined || value === null) continue;
    const isCount = typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
    found = Math.max(found, isCount ? value : fallback);
  }
  return found;
}

/**
 * Rejected tokens of a prediction are billed as output (OpenAI docs: Predicted Outputs). A token has
 * at least one byte.
 */
function predictionTokens({ prediction }: Body): number {
  return isObject(prediction) ? Buffer.byteLength(JSON.stringify(prediction)) : 0;
}

/**
 * True if the model may produce reasoning that a stream does not show. The reasoning is billed as
 * output.
 */
export function mayReasonUnseen(
  model: { id: string; declaration: { capabilities?: readonly string[] } },
  body: Body,
): boolean {
  if (!model.declaration.capabilities?.includes('reasoning')) return false;
  // Claude 4 thinks only if the request asks for it. Later models think by default (Anthropic docs:
  // Adaptive thinking).
  return !/^claude-[a-z]+-4-/.test(model.id) || asksForReasoning(body);
}

const REASONING_MEMBERS = ['thinking', 'reasoning', 'reasoning_effort', 'output_config'];
const THINKING_CONFIGS = ['thinkingConfig', 'thinking_config'];

function asksForReasoning(body: Body): boolean {
  const isSet = (value: unknown) => value !== undefined && value !== null;
  return (
    REASONING_MEMBERS.some((name) => isSet(body[name])) ||
    configsOf(body).some((config) => THINKING_CONFIGS.some((name) => isSet(config[name])))
  );
}
