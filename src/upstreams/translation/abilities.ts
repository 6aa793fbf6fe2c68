/**
 * Fits a request to what its model can do (`abilities` of `catalogue/chat.json`). What the model
 * cannot do becomes what it can, or is refused by the client's own name of the parameter.
 */
import { type Abilities, EFFORTS, type Effort } from '../../catalogue/abilities.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { FEATURES, type Feature } from './features.ts';
import type { NeutralRequest, ReadRequest, Reasoning } from './neutral.ts';

/**
 * The largest token budgets that become low and medium effort. OpenAI's own models use about these
 * numbers of tokens.
 */
const MAX_LOW_TOKENS = 2_048;
const MAX_MEDIUM_TOKENS = 8_192;

/** The token budget that replaces each effort. */
const BUDGETS: Record<Effort, number> = {
  ...{ minimal: 1_024, low: 2_048, medium: 8_192, high: 24_576, xhigh: 32_768, max: 65_536 },
};

/** Returns the effort that replaces a token budget. */
export function effortOf(reasoning: Exclude<Reasoning, { off: true }>): Effort {
  if ('effort' in reasoning) return reasoning.effort;
  if (reasoning.budget_tokens <= MAX_LOW_TOKENS) return 'low';
  return reasoning.budget_tokens <= MAX_MEDIUM_TOKENS ? 'medium' : 'high';
}

/** Returns the token budget of a reasoning setting. */
export function budgetOf(reasoning: Exclude<Reasoning, { off: true }>): number {
  return 'effort' in reasoning ? BUDGETS[reasoning.effort] : reasoning.budget_tokens;
}

/**
 * Returns the setting in the form that the model takes. An effort that the model lacks becomes the
 * next lower one, or its least. A model whose reasoning cannot be switched off reasons the least.
 */
function fitReasoning(
  reasoning: Reasoning | undefined,
  abilities: Abilities | undefined,
): Reasoning | undefined {
  if (!reasoning || !abilities) return reasoning;
  const {
    form,
    efforts = [],
    min_budget_tokens = 0,
    max_budget_tokens,
    can_be_off,
  } = abilities.reasoning;
  if (form === 'none') return undefined;
  if (form === 'budget') {
    if ('off' in reasoning) return can_be_off ? reasoning : { budget_tokens: min_budget_tokens };
    const most = max_budget_tokens ?? Number.MAX_SAFE_INTEGER;
    return { budget_tokens: Math.min(Math.max(budgetOf(reasoning), min_budget_tokens), most) };
  }
  const [least = 'low'] = efforts;
  if ('off' in reasoning) return can_be_off ? reasoning : { effort: least };
  const wanted = EFFORTS.indexOf(effortOf(reasoning));
  return { effort: efforts.findLast((each) => EFFORTS.indexOf(each) <= wanted) ?? least };
}

const SAMPLING: readonly Feature[] = ['temperature', 'temperature_above_one', 'top_p', 'top_k'];
const REASONING: readonly Feature[] = ['reasoning_effort', 'reasoning_budget'];

/**
 * Returns a 400 error for the first parameter that the model cannot take and that cannot become
 * another one. Returns undefined if the model takes all, or if nothing is known of it.
 */
export function beyondModel(
  { request, uses }: ReadRequest,
  abilities: Abilities | undefined,
): WeirError | undefined {
  if (!abilities) return undefined;
  const refused = refusedFeatures(request, abilities);
  const use = uses.find(({ feature }) => refused.has(feature));
  if (!use) return undefined;
  const message = `${use.param}: ${FEATURES[use.feature]} cannot be used with this model${
    refused.get(use.feature) === 'without_reasoning' ? ' while it reasons' : ''
  }.`;
  return new WeirError('invalid_request', message, {
    param: use.param,
    hint: 'Remove the parameter, or use a model that supports it.',
  });
}

function refusedFeatures(request: NeutralRequest, abilities: Abilities) {
  const refused = new Map<Feature, 'never' | 'without_reasoning'>();
  const { reasoning } = request;
  const reasons = reasoning !== undefined && !('off' in reasoning);
  /** Adds the features if the model does not take them in this request. */
  const check = (when: Abilities['sampling'], features: readonly Feature[]) => {
    if (when === 'always' || (when === 'without_reasoning' && !reasons)) return;
    for (const feature of features) refused.set(feature, when);
  };
  if (abilities.reasoning.form === 'none' && !(reasons && reasoning.is_hint)) {
    check('never', REASONING);
  }
  check(
    abilities.sampling,
    // 1 is the default of `temperature` and of `top_p`, so it changes nothing.
    SAMPLING.filter(
      (feature) =>
        (feature === 'temperature'
          ? request.temperature
          : feature === 'top_p'
            ? request.top_p
            : 0) !== 1,
    ),
  );
  if (request.tools.length > 0) check(abilities.forced_tools, ['forced_tool']);
  if (!abilities.prefill) check('never', ['prefill']);
  return refused;
}

/** Returns the request as the model takes it. The request was not refused by `beyondModel`. */
export function fitToModel(request: NeutralRequest, abilities?: Abilities): NeutralRequest {
  if (!abilities) return request;
  const { temperature, top_p, top_k, reasoning, ...rest } = request;
  const reasons = reasoning !== undefined && !('off' in reasoning);
  const isSampled =
    abilities.sampling === 'always' || (abilities.sampling === 'without_reasoning' && !reasons);
  const fitted = fitReasoning(reasoning, abilities);
  return {
    ...rest,
    ...(fitted && { reasoning: fitted }),
    ...(isSampled && temperature !== undefined && { temperature }),
    ...(isSampled && top_p !== undefined && { top_p }),
    ...(isSampled && top_k !== undefined && { top_k }),
  };
}
