import { type Static, Type } from '@sinclair/typebox';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { KeyLimit } from '../../inference/limits/limit.ts';

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
    },
    { additionalProperties: false },
  ),
  { maxItems: MAX_LIMITS, errorMessage: `must be an array of at most ${MAX_LIMITS} limits` },
);

/**
 * Returns the limits as they are stored, with the ids of their models. Throws WeirError if a model is unknown, or
 * has two limits. A model that the catalogue lost may stay in the limits of a key that has it.
 */
export function storedLimits(
  catalogue: Catalogue,
  limits: Static<typeof LIMITS>,
  before: readonly KeyLimit[] = [],
): KeyLimit[] {
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
    return { model, requests_per_minute, tokens_per_minute, concurrent_calls };
  });
}
