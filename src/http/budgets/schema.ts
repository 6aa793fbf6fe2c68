import { Type } from '@sinclair/typebox';

const MAX_BUDGET_USD = 1_000_000;
const MAX_ID_CHARS = 200;
/** What a call record keeps of a tag. A longer one never equals it. */
const MAX_TAG_CHARS = 512;
/** `metadata.user_id` names the end user of a call (Anthropic). It is no tag. */
const END_USER = 'user_id';
const NANO_PER_USD = 1_000_000_000;
const NO_NUL = '^[^\\u0000]*$';
const TAG_NAME = `^(?!${END_USER}$)[^\\u0000]{1,${MAX_TAG_CHARS}}$`;
const TAG_MESSAGE = `must be null or one name with its value, each of at most ${MAX_TAG_CHARS} characters, and not ${END_USER}`;
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
      Type.Union(
        [
          Type.Record(
            Type.String({ pattern: TAG_NAME }),
            Type.String({ maxLength: MAX_TAG_CHARS, pattern: NO_NUL }),
            { minProperties: 1, maxProperties: 1, additionalProperties: false },
          ),
          Type.Null(),
        ],
        { errorMessage: TAG_MESSAGE },
      ),
    ),
    period: Type.Union([Type.Literal('day'), Type.Literal('week'), Type.Literal('month')], {
      errorMessage: 'must be day, week or month',
    }),
    limit_amount,
  },
  closed,
);

/** `PATCH /v1/management/budgets/{id}` */
export const UpdateBudgetSchema = Type.Object({ limit_amount }, closed);

/** Returns a limit in nano-USD. A tiny positive amount does not become 0. */
export function budgetLimitOf(usd: number): number {
  return usd === 0 ? 0 : Math.max(1, Math.round(usd * NANO_PER_USD));
}
