import { type Static, type TSchema, Type } from '@sinclair/typebox';
import {
  type BilledCounts,
  type RecordedRow,
  readBills,
  replaceBill,
  type StoredBillRow,
  sumByChannel,
} from '../../../db/books/reconciliation.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { usd } from '../../json/usd.ts';
import { readJsonObject } from '../body.ts';
import { type Handler, json } from '../endpoint.ts';
import { readDateRange } from '../management/list-dates.ts';
import { choiceParameter, nameParameter, readQuery } from '../management/list-query.ts';
import { OPERATORS } from '../operators.ts';
import { BILL_SOURCES, readBill } from './bill-formats.ts';
import { channelNotFound } from './channels.ts';
import type { OperatorDeps } from './operator-parts.ts';
import { publicNames } from './provider-names.ts';

const MAX_BILL_BYTES = 4 * 1024 * 1024;
const DAY_MS = 24 * 3_600_000;
const DEFAULT_RECONCILED_DAYS = 7;
/** All lines of the days are read. */
const MAX_RECONCILED_DAYS = 31;

const Nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const closed = { additionalProperties: false };
const Usd = Type.Number();
const Count = Type.Integer();

const RowSchema = Type.Object(
  {
    day: Type.String(),
    channel: Type.String(),
    /** The public model; null in the sums of a channel, and for a name that no model has there. */
    model: Nullable(Type.String()),
    /** The provider's name, if it is not the name of a model. */
    provider_model: Nullable(Type.String()),
    recorded: Type.Object(
      {
        requests: Count,
        /** What the calls cost by the catalogue, and what of it the organizations paid. */
        list_price: Usd,
        amount: Usd,
        /** What the provider told with its answers, and how many calls that covers. */
        paid: Usd,
        paid_requests: Count,
        input_tokens: Count,
        output_tokens: Count,
      },
      closed,
    ),
    billed: Type.Array(
      Type.Object(
        {
          source: Type.String(),
          amount: Nullable(Usd),
          input_tokens: Nullable(Count),
          output_tokens: Nullable(Count),
          requests: Nullable(Count),
          imported_at: Type.String(),
        },
        closed,
      ),
    ),
    /** The bill minus what Weir recorded; null without a bill that has amounts. */
    difference: Nullable(
      Type.Object(
        {
          to_list_price: Usd,
          /** Null unless the provider told the price of every call. */
          to_paid: Nullable(Usd),
        },
        closed,
      ),
    ),
  },
  closed,
);

/** The answer of `GET /v1/operator/usage-reconciliation`. */
export const ReconciliationSchema = Type.Object(
  {
    object: Type.Literal('usage_reconciliation'),
    from: Type.String(),
    until: Type.String(),
    currency: Type.Literal('USD'),
    data: Type.Array(RowSchema),
  },
  closed,
);

/** `POST /v1/operator/provider-bills` */
export const ImportBillSchema = Type.Object(
  { channel: nameParameter(), source: choiceParameter(BILL_SOURCES) },
  closed,
);
/** `GET /v1/operator/usage-reconciliation` */
export const ReconcileSchema = Type.Object(
  {
    channel: nameParameter(),
    group: choiceParameter(['channel', 'model'] as const),
    startDate: Type.Optional(Type.String({ maxLength: 64 })),
    endDate: Type.Optional(Type.String({ maxLength: 64 })),
  },
  closed,
);
const validateImport = validator(ImportBillSchema);
const validateQuery = validator(ReconcileSchema);

/**
 * `POST /v1/operator/provider-bills?channel=&source=`: imports what a provider bills for the account of
 * a channel. The body is the answer of the provider's own interface. An import replaces what the same
 * source said of the same days.
 */
export function importBill(deps: OperatorDeps): Handler {
  return async (context) => {
    const { actor } = await deps.authentication.requireOperator(context);
    const { channel, source } = readQuery(context.request, validateImport);
    if (channel === undefined || source === undefined) {
      const param = channel === undefined ? 'channel' : 'source';
      throw new WeirError('invalid_request', `${param} is missing.`, {
        param,
        hint: `Send channel, and source: ${BILL_SOURCES.join(', ')}.`,
      });
    }
    const { sql, channels } = deps.operator();
    if (!channels.account(channel)) throw channelNotFound();
    const bytes = context.bytes.of(OPERATORS);
    const { value } = await readJsonObject(context.request, bytes, MAX_BILL_BYTES);
    const bill = readBill(source, value);
    await replaceBill(sql, channel, source, bill, actor);
    const amounts = bill.rows.flatMap(({ amount_nano_usd }) => amount_nano_usd ?? []);
    return json({
      object: 'provider_bill',
      ...{ channel, source, days: bill.days.length, rows: bill.rows.length },
      amount: amounts.length > 0 ? usd(amounts.reduce((sum, each) => sum + each, 0)) : null,
      /** True if the provider has more pages. */
      has_more: value['has_more'] === true,
    });
  };
}

/**
 * `GET /v1/operator/usage-reconciliation`: what Weir recorded beside what providers bill, by day and
 * channel, or by day, channel and model. Without dates, the last seven days.
 */
export function reconcileUsage(deps: OperatorDeps): Handler {
  return async (context) => {
    await deps.authentication.requireOperator(context);
    const query = readQuery(context.request, validateQuery);
    const { sql, channels } = deps.operator();
    const days = { ...daysOf(query), channel_id: query.channel };
    const [recorded, bills] = await Promise.all([sumByChannel(sql, days), readBills(sql, days)]);
    const names = publicNames(channels.all.map(({ config }) => config));
    const rows = new Map<string, Compared>();
    const rowOf = (day: string, channel: string, model: string | null, other: string | null) => {
      const [public_model, provider_model] =
        query.group === 'model' ? [model, other] : [null, null];
      const key = JSON.stringify([day, channel, public_model, provider_model]);
      const row = rows.get(key) ?? new Compared(day, channel, public_model, provider_model);
      rows.set(key, row);
      return row;
    };
    for (const line of recorded) rowOf(line.day, line.channel_id, line.model, null).record(line);
    for (const bill of bills) {
      const model = names(bill.channel_id, bill.model);
      rowOf(bill.day, bill.channel_id, model ?? null, model ? null : bill.model).bill(bill);
    }
    const answer: Static<typeof ReconciliationSchema> = {
      object: 'usage_reconciliation',
      from: days.from.toISOString(),
      until: days.until.toISOString(),
      currency: 'USD',
      data: [...rows.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row.view()),
    };
    return json(answer);
  };
}

/** One row of the comparison. */
class Compared {
  private readonly sums = {
    ...{ requests: 0, list_nano_usd: 0, charged_nano_usd: 0, input_tokens: 0, output_tokens: 0 },
    ...{ paid_nano_usd: 0, paid_requests: 0 },
  };
  private readonly bills = new Map<string, { counts: BilledCounts; imported_at: Date }>();

  constructor(
    private readonly day: string,
    private readonly channel: string,
    private readonly model: string | null,
    private readonly provider_model: string | null,
  ) {}

  record(row: RecordedRow): void {
    for (const name of Object.keys(this.sums) as (keyof typeof this.sums)[]) {
      this.sums[name] += row[name];
    }
  }

  bill({ source, imported_at, ...row }: StoredBillRow): void {
    const before = this.bills.get(source)?.counts;
    const add = (name: keyof BilledCounts) => {
      const [a, b] = [before?.[name] ?? null, row[name]];
      return a === null && b === null ? null : (a ?? 0) + (b ?? 0);
    };
    const counts = {
      ...{ amount_nano_usd: add('amount_nano_usd'), requests: add('requests') },
      ...{ input_tokens: add('input_tokens'), output_tokens: add('output_tokens') },
    };
    this.bills.set(source, { counts, imported_at });
  }

  view(): Static<typeof RowSchema> {
    const { sums, day, channel, model, provider_model } = this;
    const amounts = [...this.bills.values()].flatMap(({ counts }) => counts.amount_nano_usd ?? []);
    const billed = amounts.reduce((sum, each) => sum + each, 0);
    const isPaidKnown = sums.paid_requests === sums.requests;
    return {
      ...{ day, channel, model, provider_model },
      recorded: {
        requests: sums.requests,
        list_price: usd(sums.list_nano_usd),
        amount: usd(sums.charged_nano_usd),
        paid: usd(sums.paid_nano_usd),
        paid_requests: sums.paid_requests,
        input_tokens: sums.input_tokens,
        output_tokens: sums.output_tokens,
      },
      billed: [...this.bills].map(([source, { counts, imported_at }]) => ({
        source,
        amount: counts.amount_nano_usd === null ? null : usd(counts.amount_nano_usd),
        input_tokens: counts.input_tokens,
        output_tokens: counts.output_tokens,
        requests: counts.requests,
        imported_at: imported_at.toISOString(),
      })),
      difference:
        amounts.length === 0
          ? null
          : {
              to_list_price: usd(billed - sums.list_nano_usd),
              to_paid: isPaidKnown ? usd(billed - sums.paid_nano_usd) : null,
            },
    };
  }
}

/** Returns the days of a query. Throws WeirError for a part of a day, and for too many days. */
function daysOf(query: { startDate?: string; endDate?: string }): { from: Date; until: Date } {
  const { since, before } = readDateRange(query);
  const today_ms = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const until = before ?? new Date(today_ms + DAY_MS);
  const from = since ?? new Date(until.getTime() - DEFAULT_RECONCILED_DAYS * DAY_MS);
  const days = (until.getTime() - from.getTime()) / DAY_MS;
  const isWhole = from.getTime() % DAY_MS === 0 && until.getTime() % DAY_MS === 0;
  if (isWhole && days > 0 && days <= MAX_RECONCILED_DAYS) return { from, until };
  throw new WeirError(
    'invalid_request',
    `The dates must name 1 to ${MAX_RECONCILED_DAYS} whole days.`,
    {
      param: since ? 'startDate' : 'endDate',
      hint: 'Send both as YYYY-MM-DD.',
    },
  );
}
