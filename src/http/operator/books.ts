import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { findUnknownOutcomes, readBookSums } from '../../../db/books/books.ts';
import { findUnownedMoney } from '../../../db/ledger/unowned.ts';
import type { AuditResult, LinesAudit } from '../../actors/money/audit.ts';
import { requestIdOf } from '../../errors/request-id.ts';
import { validator } from '../../errors/validate.ts';
import { usd } from '../../json/usd.ts';
import { type Handler, json } from '../endpoint.ts';
import { readQuery } from '../management/list-query.ts';
import type { OperatorDeps } from './operator-parts.ts';

/** If a part of the audit takes longer, the answer has the result of its last run. */
const AUDIT_WAIT_MS = 200;
/** The wait for the first run of the quick part, because there is no earlier result. */
const FIRST_AUDIT_WAIT_MS = 2_000;

const Nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const closed = { additionalProperties: false };
/** An RFC 3339 datetime in UTC. */
const Time = Type.String();
/** An amount: USD, and the exact nano-USD as text. */
const Amount = Type.Object({ usd: Type.Number(), nano_usd: Type.String() }, closed);
const Gap = Type.Object({ what: Type.String(), id: Type.String(), amount: Amount }, closed);

/** The answer of `GET /v1/operator/books`. */
export const BooksSchema = Type.Object(
  {
    object: Type.Literal('books'),
    /** The instant of `totals`, `open_holds` and `open_grants`. */
    as_of: Time,
    /** The sums that do not add up; null before the first audit. There must be none. */
    conservation: Nullable(
      Type.Object(
        {
          imbalances: Type.Integer(),
          found: Type.Array(Gap),
          as_of: Time,
          took_ms: Type.Integer(),
          /** When the sums were last compared with all usage lines; null before the first time. */
          lines_as_of: Nullable(Time),
        },
        closed,
      ),
    ),
    /** Money that is set aside and has no living owner. There must be none. */
    unowned: Type.Object({ count: Type.Integer(), found: Type.Array(Gap) }, closed),
    /** What the platform absorbed, at the time `lines_as_of`; null before all usage lines were read. */
    overruns: Nullable(
      Type.Object(
        {
          count: Type.Integer(),
          total: Amount,
          latest: Type.Array(
            Type.Object(
              {
                request_id: Type.String(),
                organization_id: Type.String(),
                api_key_id: Type.String(),
                model: Type.String(),
                amount: Amount,
                at: Time,
              },
              closed,
            ),
          ),
        },
        closed,
      ),
    ),
    /** Tasks for which nobody knows whether an upstream has their job. Their money stays held. */
    unknown_outcomes: Type.Object(
      {
        count: Type.Integer(),
        oldest: Type.Array(
          Type.Object(
            {
              task_id: Type.String(),
              organization_id: Nullable(Type.String()),
              state: Type.String(),
              since: Time,
            },
            closed,
          ),
        ),
      },
      closed,
    ),
    open_holds: Type.Object({ count: Type.Integer(), amount: Amount }, closed),
    open_grants: Type.Object(
      { count: Type.Integer(), amount: Amount, charged_not_posted: Amount },
      closed,
    ),
    totals: Type.Object(
      {
        organizations: Type.Integer(),
        deposited: Amount,
        /** The part of `deposited` that is lent. */
        credit: Amount,
        available: Amount,
        held: Amount,
        used: Amount,
        /** `deposited - available - held - used`. It must be 0. */
        difference: Amount,
      },
      closed,
    ),
  },
  closed,
);

/** `GET /v1/operator/books`, which takes no parameter. */
export const BooksQuerySchema = Type.Object({}, closed);
const validateQuery = validator(BooksQuerySchema);

/**
 * `GET /v1/operator/books`. Runs the audit of the books now, and returns the sums over all
 * organizations (P1, P15, P16).
 */
export function getBooks(deps: OperatorDeps): Handler {
  return async (context) => {
    await deps.authentication.requireOperator(context);
    readQuery(context.request, validateQuery);
    const { sql, audit } = deps.operator();
    const [result, sums, unowned, unknown] = await Promise.all([
      audit.runWithin(AUDIT_WAIT_MS, FIRST_AUDIT_WAIT_MS),
      readBookSums(sql),
      findUnownedMoney(sql),
      findUnknownOutcomes(sql),
    ]);
    const { deposited, available, held, used } = sums;
    const difference = BigInt(deposited) - BigInt(available) - BigInt(held) - BigInt(used);
    const answer: Static<typeof BooksSchema> = {
      object: 'books',
      as_of: sums.as_of.toISOString(),
      ...auditOf(result),
      unowned: { count: unowned.length, found: unowned.map(gapOf) },
      unknown_outcomes: {
        count: unknown.count,
        oldest: unknown.oldest.map((each) => ({ ...each, since: each.since.toISOString() })),
      },
      open_holds: { count: sums.open_holds, amount: amountOf(sums.open_holds_amount) },
      open_grants: {
        count: sums.open_grants,
        amount: amountOf(sums.open_grants_amount),
        charged_not_posted: amountOf(sums.open_grants_unposted),
      },
      totals: {
        organizations: sums.organizations,
        deposited: amountOf(deposited),
        credit: amountOf(sums.credit),
        available: amountOf(available),
        held: amountOf(held),
        used: amountOf(used),
        difference: amountOf(difference),
      },
    };
    return json(answer);
  };
}

function auditOf(
  result: AuditResult | undefined,
): Pick<Static<typeof BooksSchema>, 'conservation' | 'overruns'> {
  if (!result) return { conservation: null, overruns: null };
  const { imbalances, quick, lines } = result;
  return {
    conservation: {
      imbalances: imbalances.length,
      found: imbalances.map(gapOf),
      as_of: new Date(quick.began_at_ms).toISOString(),
      took_ms: Math.ceil(quick.took_ms),
      lines_as_of: lines ? new Date(lines.began_at_ms).toISOString() : null,
    },
    overruns: lines ? overrunsOf(lines.result) : null,
  };
}

function overrunsOf({ overruns }: LinesAudit): Static<typeof BooksSchema>['overruns'] {
  return {
    count: overruns.count,
    total: amountOf(overruns.amount),
    latest: overruns.latest.map((line) => ({
      request_id: requestIdOf(line.request_id),
      organization_id: line.organization_id,
      api_key_id: line.key_id,
      model: line.model,
      amount: amountOf(line.nano_usd),
      at: line.at.toISOString(),
    })),
  };
}

const gapOf = ({ what, id, nano_usd }: { what: string; id: string; nano_usd: number }) => ({
  what,
  id,
  amount: amountOf(nano_usd),
});

function amountOf(nano_usd: bigint | number | string): Static<typeof Amount> {
  return { usd: usd(Number(nano_usd)), nano_usd: String(nano_usd) };
}
