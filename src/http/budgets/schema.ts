import { Type } from '@sinclair/typebox';
import { WHEN_REACHED } from '../management/when-reached.ts';
import { TAG_BOUNDS, tagsSchema } from '../tags-schema.ts';

const MAX_BUDGET_USD = 1_000_000;
const MAX_ID_CHARS = 200;
const NANO_PER_USD = 1_000_000_000;
const NO_NUL = '^[^\\u0000]*$';
const closed = { additionalProperties: false };

const limit_amount = Type.Number({
  ...{ minimum: 0, maximum: MAX_BUDGET_USD },
  errorMessage: `must be a number from 0 to ${MAX_BUDGET_USD}`,
});

/** `POST /v1/management/budgets` */
export const CreateBudgetSchema = Type.Object(
  {
    api_key_id: Type.Optional(
      Type.Union([Type.String({ maxLength: MAX_ID_CHARS, pattern: NO_NUL }), Type.Null()], {
        errorMessage: 'must be null or the id of an API key',
      }),
    ),
    tag: Type.Optional(
      Type.Union([tagsSchema({ minProperties: 1, maxProperties: 1 }), Type.Null()], {
        errorMessage: `must be null or an object of one text; ${TAG_BOUNDS}`,
      }),
    ),
    period: Type.Union([Type.Literal('day'), Type.Literal('week'), Type.Literal('month')], {
      errorMessage: 'must be day, week or month',
    }),
    limit_amount,
    when_reached: WHEN_REACHED,
  },
  closed,
);

/** `PATCH /v1/management/budgets/{id}` */
export const UpdateBudgetSchema = Type.Object(
  { limit_amount: Type.Optional(limit_amount), when_reached: WHEN_REACHED },
  closed,
);

/** Returns a limit in nano-USD. A tiny positive amount does not become 0. */
export function budgetLimitOf(usd: number): number {
  return usd === 0 ? 0 : Math.max(1, Math.round(usd * NANO_PER_USD));
}
