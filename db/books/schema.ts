/** What providers bill to the operator. */
import { bigint, date, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { instant } from '../columns.ts';

/**
 * What a provider billed, or counted, for one day, channel and model. An operator imports these rows;
 * an import replaces the rows that the same source gave for the same days.
 */
export const providerBill = pgTable(
  'provider_bill',
  {
    channel_id: text('channel_id').notNull(),
    /** The answer of a provider that has the rows, e.g. `openai-costs`. */
    source: text('source').notNull(),
    /** The day in UTC. */
    day: date('day', { mode: 'string' }).notNull(),
    /** The provider's name of the model; '' = the provider names none. */
    model: text('model').notNull(),
    /** Null if the source has no amounts. It may be negative, e.g. for a credit. */
    amount_nano_usd: bigint('amount_nano_usd', { mode: 'number' }),
    input_tokens: bigint('input_tokens', { mode: 'number' }),
    output_tokens: bigint('output_tokens', { mode: 'number' }),
    requests: bigint('requests', { mode: 'number' }),
    imported_at: instant('imported_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.channel_id, table.source, table.day, table.model] })],
);
