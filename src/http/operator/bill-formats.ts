import { type Static, Type } from '@sinclair/typebox';
import type { BilledCounts, BillRow } from '../../../db/books/reconciliation.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';

/** The most days and rows of one import. */
const MAX_BILL_DAYS = 366;
const MAX_BILL_ROWS = 5_000;
const MAX_MODEL_CHARS = 200;
const DAY_MS = 24 * 3_600_000;
const NANO_PER_USD = 1_000_000_000;
const NANO_PER_CENT = 10_000_000;
/** A larger amount of a row is impossible. Nano-USD are exact below it. */
const MAX_USD = 5_000_000;

/** The rows of a bill, and all days that it tells of, also those without a row. */
export interface Bill {
  readonly days: readonly string[];
  readonly rows: readonly BillRow[];
}

const Numeric = Type.Union(
  [Type.Number(), Type.String({ pattern: '^-?\\d{1,15}(\\.\\d{1,30})?$' })],
  {
    errorMessage: 'must be a number',
  },
);
const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Name = Type.Optional(Type.Union([Type.String(), Type.Null()]));

/** OpenAI API reference: Costs, and the usage of completions and embeddings. */
const OpenaiSchema = Type.Object({
  data: Type.Array(
    Type.Object({
      start_time: Count,
      end_time: Count,
      results: Type.Array(
        Type.Object({
          amount: Type.Optional(
            Type.Object({ value: Type.Optional(Numeric), currency: Type.Optional(Type.String()) }),
          ),
          line_item: Name,
          model: Name,
          input_tokens: Type.Optional(Count),
          output_tokens: Type.Optional(Count),
          num_model_requests: Type.Optional(Count),
        }),
      ),
    }),
  ),
});

/** Claude API reference: Get Cost Report. An amount is in cents. */
const AnthropicSchema = Type.Object({
  data: Type.Array(
    Type.Object({
      starting_at: Type.String(),
      ending_at: Type.String(),
      results: Type.Array(Type.Object({ amount: Numeric, currency: Type.String(), model: Name })),
    }),
  ),
});

/** OpenRouter API reference: ActivityResponse. `usage` is in USD. */
const OpenrouterSchema = Type.Object({
  data: Type.Array(
    Type.Object({
      date: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}' }),
      model: Type.String(),
      usage: Numeric,
      requests: Type.Optional(Count),
      prompt_tokens: Type.Optional(Count),
      completion_tokens: Type.Optional(Count),
    }),
  ),
});

/** The answers of providers that can be imported, by the name of their source. */
const FORMATS = {
  'openai-costs': reader(validator(OpenaiSchema), readOpenai),
  'openai-usage': reader(validator(OpenaiSchema), readOpenai),
  'anthropic-costs': reader(validator(AnthropicSchema), readAnthropic),
  'openrouter-activity': reader(validator(OpenrouterSchema), readOpenrouter),
} as const;

/** The name of an answer that can be imported. */
export type BillSource = keyof typeof FORMATS;
export const BILL_SOURCES = Object.keys(FORMATS) as BillSource[];

/**
 * Reads the answer of a provider, as the provider sent it. Rows of the same day and model are added
 * up. Throws WeirError that names the wrong member.
 */
export function readBill(source: BillSource, answer: Record<string, unknown>): Bill {
  const bill = new BillSums();
  FORMATS[source](answer, bill);
  return bill.whole();
}

type Read = (answer: Record<string, unknown>, bill: BillSums) => void;

function reader<Answer>(
  validate: (answer: Record<string, unknown>) => Answer,
  read: (answer: Answer, bill: BillSums) => void,
): Read {
  return (answer, bill) => read(validate(answer), bill);
}

function readOpenai({ data }: Static<typeof OpenaiSchema>, bill: BillSums): void {
  for (const { start_time, end_time, results } of data) {
    const day = wholeDay(start_time * 1_000, end_time * 1_000, 'data.start_time');
    bill.tell(day);
    for (const { amount, line_item, model, ...counts } of results) {
      const { value, currency = 'usd' } = amount ?? {};
      requireUsd(currency);
      // A line item is a model and a kind of tokens, or another service.
      bill.add(day, model ?? line_item?.split(',')[0] ?? '', {
        amount_nano_usd: value === undefined ? null : nano(value, NANO_PER_USD),
        input_tokens: counts.input_tokens ?? null,
        output_tokens: counts.output_tokens ?? null,
        requests: counts.num_model_requests ?? null,
      });
    }
  }
}

function readAnthropic({ data }: Static<typeof AnthropicSchema>, bill: BillSums): void {
  for (const { starting_at, ending_at, results } of data) {
    const day = wholeDay(Date.parse(starting_at), Date.parse(ending_at), 'data.starting_at');
    bill.tell(day);
    for (const { amount, currency, model } of results) {
      requireUsd(currency);
      bill.add(day, model ?? '', {
        amount_nano_usd: nano(amount, NANO_PER_CENT),
        ...{ input_tokens: null, output_tokens: null, requests: null },
      });
    }
  }
}

function readOpenrouter({ data }: Static<typeof OpenrouterSchema>, bill: BillSums): void {
  for (const { date, model, usage, requests, prompt_tokens, completion_tokens } of data) {
    const start_ms = Date.parse(`${date.slice(0, 10)}T00:00:00Z`);
    const day = wholeDay(start_ms, start_ms + DAY_MS, 'data.date');
    bill.tell(day);
    bill.add(day, model, {
      amount_nano_usd: nano(usage, NANO_PER_USD),
      input_tokens: prompt_tokens ?? null,
      output_tokens: completion_tokens ?? null,
      requests: requests ?? null,
    });
  }
}

/** Adds up the rows of one answer. */
class BillSums {
  private readonly days = new Set<string>();
  private readonly rows = new Map<string, { -readonly [Name in keyof BillRow]: BillRow[Name] }>();

  /** Notes that the answer tells of a day. */
  tell(day: string): void {
    this.days.add(day);
    if (this.days.size > MAX_BILL_DAYS) throw tooMuch(`${MAX_BILL_DAYS} days`);
  }

  add(day: string, named: string, counts: BilledCounts): void {
    const model = named.slice(0, MAX_MODEL_CHARS).replaceAll('\u0000', '').toWellFormed();
    const key = JSON.stringify([day, model]);
    const row = this.rows.get(key);
    if (!row) {
      this.rows.set(key, { day, model, ...counts });
      if (this.rows.size > MAX_BILL_ROWS) throw tooMuch(`${MAX_BILL_ROWS} rows`);
      return;
    }
    for (const name of Object.keys(counts) as (keyof BilledCounts)[]) {
      const count = counts[name];
      if (count !== null) row[name] = exact((row[name] ?? 0) + count);
    }
  }

  whole(): Bill {
    return { days: [...this.days], rows: [...this.rows.values()] };
  }
}

/** Returns the day of a bucket. Throws WeirError unless the bucket is one whole day in UTC. */
function wholeDay(start_ms: number, end_ms: number, param: string): string {
  if (start_ms % DAY_MS === 0 && end_ms - start_ms === DAY_MS && start_ms < 4e12) {
    return new Date(start_ms).toISOString().slice(0, 10);
  }
  throw new WeirError('invalid_request', `${param} must begin a bucket of one day in UTC.`, {
    param,
    hint: 'Request buckets of one day (bucket_width=1d) from the provider.',
  });
}

function requireUsd(currency: string): void {
  if (currency.toLowerCase() === 'usd') return;
  throw new WeirError('invalid_request', 'currency must be USD.', { param: 'data.currency' });
}

function nano(amount: number | string, nano_per_unit: number): number {
  return exact(Math.round(Number(amount) * nano_per_unit));
}

function exact(count: number): number {
  if (Math.abs(count) <= MAX_USD * NANO_PER_USD) return count;
  throw new WeirError('invalid_request', 'An amount or a count is too large.', { param: 'data' });
}

function tooMuch(most: string): WeirError {
  return new WeirError('invalid_request', `data has more than ${most}.`, {
    param: 'data',
    hint: 'Import the answer in smaller parts of whole days.',
  });
}
