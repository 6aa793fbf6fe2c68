/**
 * Fits a request to what its model can do (`abilities` of `catalogue/chat.json`). What the model
 * cannot do becomes what it can, or is refused by the client's own name of the parameter.
 */
import { type Abilities, EFFORTS, type Effort } from '../../catalogue/abilities.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { fitFormat } from './answer-format.ts';
import { FEATURES, type Feature } from './features.ts';
import { mediumRefusal } from './media.ts';
import type { NeutralRequest, ReadRequest, Reasoning, Tool, Turn } from './neutral.ts';
import { isClaudesThinking } from './thought-signature.ts';

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

/** True if the model refuses this request while it reasons, so that reasoning must be switched off. */
function mustNotReason(request: NeutralRequest, abilities: Abilities): boolean {
  const { tools, turns, reasoning } = request;
  if (tools.length > 0 && abilities.reasoning_with_tools === false) return true;
  const { maker, needed } = abilities.signatures;
  return maker === 'anthropic' && needed && reasoning !== undefined && hasUnsignedCalls(turns);
}

/**
 * True if the request has results of a turn that does not start with Claude's own thinking. Claude
 * refuses such a turn while it thinks with a budget (anomalyco/opencode#3077,
 * openai/openai-agents-python#678). Chat completions have no member for the signature.
 */
function hasUnsignedCalls(turns: readonly Turn[]): boolean {
  const last = turns.at(-1);
  if (last?.role !== 'user' || !last.parts.some(({ type }) => type === 'result')) return false;
  const called = turns.findLast(({ role }) => role === 'assistant');
  const [first] = called?.role === 'assistant' ? called.parts : [];
  return first !== undefined && !isClaudesThinking(first);
}

/**
 * Returns the setting in the form that the model takes. An effort that the model lacks becomes the
 * next lower one, or its least. A model whose reasoning cannot be switched off reasons the least.
 */
function fitReasoning(
  request: NeutralRequest,
  abilities: Abilities | undefined,
): Reasoning | undefined {
  const { reasoning } = request;
  if (!abilities) return reasoning;
  const {
    form,
    efforts = [],
    min_budget_tokens = 0,
    max_budget_tokens,
    can_be_off,
  } = abilities.reasoning;
  if (can_be_off && mustNotReason(request, abilities)) return { off: true };
  if (!reasoning) return undefined;
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
  for (const use of uses) {
    const why = refused.get(use.feature) ?? mediumRefusal(use, abilities);
    if (why === undefined) continue;
    const { param } = use;
    return new WeirError('invalid_request', `${param}: ${FEATURES[use.feature]} ${why}.`, {
      param,
      hint: 'Remove the parameter, or use a model that supports it.',
    });
  }
  return undefined;
}

/** Why a model refuses a feature. */
const REASONS = {
  never: 'cannot be used with this model',
  without_reasoning: 'cannot be used with this model while it reasons',
} as const;

function refusedFeatures(request: NeutralRequest, abilities: Abilities) {
  const refused = new Map<Feature, string>();
  const { reasoning } = request;
  const reasons = doesReason(request, abilities);
  /** Adds the features if the model does not take them in this request. */
  const check = (when: Abilities['sampling'], features: readonly Feature[]) => {
    if (when === 'always' || (when === 'without_reasoning' && !reasons)) return;
    for (const feature of features) refused.set(feature, REASONS[when]);
  };
  const isHint = reasoning !== undefined && 'is_hint' in reasoning && reasoning.is_hint === true;
  if (abilities.reasoning.form === 'none' && !isHint) {
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

/** True if the request asks for reasoning, and the model does not have to do without. */
function doesReason(request: NeutralRequest, abilities: Abilities): boolean {
  const { reasoning } = request;
  if (!reasoning || 'off' in reasoning) return false;
  return !(abilities.reasoning.can_be_off && mustNotReason(request, abilities));
}

/**
 * Returns the request as the model takes it. The request was not refused by `beyondModel`. A limit of
 * the output above the model's own is lowered to it: clients of other vendors send their own maximum,
 * and no answer is longer than the model's (docs/protocols.md).
 */
export function fitToModel(
  request: NeutralRequest,
  model_max_output_tokens: number,
  abilities?: Abilities,
): NeutralRequest {
  const { max_output_tokens: limit } = request;
  const limited =
    limit !== undefined && limit > model_max_output_tokens
      ? { ...request, max_output_tokens: model_max_output_tokens }
      : request;
  return abilities ? fitAbilities(limited, abilities) : limited;
}

function fitAbilities(request: NeutralRequest, abilities: Abilities): NeutralRequest {
  const { temperature, top_p, top_k, reasoning: _, ...rest } = fitFormat(request, abilities);
  const isSampled =
    abilities.sampling === 'always' ||
    (abilities.sampling === 'without_reasoning' && !doesReason(request, abilities));
  const fitted = fitReasoning(request, abilities);
  return {
    ...rest,
    tools: abilities.strict_tools ? rest.tools : rest.tools.map(withoutStrict),
    ...(fitted && { reasoning: fitted }),
    ...(isSampled && temperature !== undefined && { temperature }),
    ...(isSampled && top_p !== undefined && { top_p }),
    ...(isSampled && top_k !== undefined && { top_k }),
  };
}

function withoutStrict({ strict: _, ...tool }: Tool): Tool {
  return tool;
}
