import { type Static, Type } from '@sinclair/typebox';
import { WeirError } from '../../errors/weir-error.ts';
import type { KeyLimit } from '../../inference/limits/limit.ts';
import { type MoveRules, storedChoice, WHEN_REACHED } from './when-reached.ts';

const MAX_LIMITS = 50;
const MAX_REQUESTS = 1_000_000;
const MAX_TOKENS = 1_000_000_000;
const MAX_CALLS = 10_000;

const most = (maximum: number) =>
  Type.Optional(
    Type.Union([Type.Integer({ minimum: 1, maximum }), Type.Null()], {
      errorMessage: `must be null or a whole number from 1 to ${maximum}`,
    }),
  );

/** The member `limits` of an API key. */
export const LIMITS = Type.Array(
  Type.Object(
    {
      model: Type.Optional(
        Type.Union(
          [Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\u0000]*$' }), Type.Null()],
          {
            errorMessage: 'must be null or a model id',
          },
        ),
      ),
      requests_per_minute: most(MAX_REQUESTS),
      tokens_per_minute: most(MAX_TOKENS),
      concurrent_calls: most(MAX_CALLS),
      when_reached: WHEN_REACHED,
    },
    { additionalProperties: false },
  ),
  { maxItems: MAX_LIMITS, errorMessage: `must be an array of at most ${MAX_LIMITS} limits` },
);

/** What the models of limits must fit. */
export interface LimitRules extends Pick<MoveRules, 'catalogue' | 'isServed' | 'models'> {
  /** The limits that the key has now. */
  readonly before?: readonly KeyLimit[];
}

/**
 * Returns the limits as they are stored, with the ids of their models. Throws WeirError if a model is unknown,
 * has two limits, or cannot serve the calls that move to it. A model that the catalogue lost may stay in the
 * limits of a key that has it, and so may a choice that was made before.
 */
export function storedLimits(
  limits: Static<typeof LIMITS>,
  { before = [], ...rules }: LimitRules,
): KeyLimit[] {
  const { catalogue } = rules;
  const seen = new Set<string | null>();
  return limits.map((limit, at) => {
    const name = limit.model ?? null;
    const isKept = before.some(({ model }) => model === name);
    const model = name === null ? null : (catalogue.find(name)?.id ?? (isKept ? name : undefined));
    const param = `limits.${at}.model`;
    if (model === undefined) {
      throw new WeirError('model_not_found', 'The model of a limit does not exist.', {
        ...{ param, hint: 'GET /v1/models lists the models.' },
      });
    }
    if (seen.has(model)) {
      throw new WeirError('invalid_request', 'A model has two limits.', { param });
    }
    seen.add(model);
    const { requests_per_minute = null, tokens_per_minute = null, concurrent_calls = null } = limit;
    const stored = { model, requests_per_minute, tokens_per_minute, concurrent_calls };
    const kept = before.find((each) => each.model === model)?.when_reached;
    if (kept && Bun.deepEquals(kept, limit.when_reached)) return { ...stored, when_reached: kept };
    const from = model === null ? undefined : catalogue.find(model);
    const chosen = { ...rules, from, param: `limits.${at}.when_reached` };
    return { ...stored, when_reached: storedChoice(limit.when_reached, chosen) };
  });
}
