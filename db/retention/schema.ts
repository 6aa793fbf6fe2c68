/**
 * What is left of usage lines and records of calls that retention removed
 * (docs/decisions/retention-by-months.md).
 */
import { bigint, date, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { instant } from '../columns.ts';

const int8 = (name: string) => bigint(name, { mode: 'number' });

/** Which rows of a table are removed: one row for each partitioned table. */
export const usageRetention = pgTable('usage_retention', {
  table_name: text('table_name', { enum: ['usage_line', 'call_record'] }).primaryKey(),
  /**
   * Rows whose id is of an earlier time are removed, and can never be inserted again. Null: nothing
   * is removed.
   */
  closed_until: instant('closed_until'),
  /** No row with this date or a later one is removed. A date can differ from the time of the id. */
  rows_since: instant('rows_since'),
  /** The largest transaction number of a removed row. No earlier state can be read again. */
  last_xid: int8('last_xid').notNull().default(0),
});

/** The sums of a key's usage lines in one removed span of time, which ends at `closed_until`. */
export const closedCharge = pgTable(
  'closed_charge',
  {
    closed_until: instant('closed_until').notNull(),
    organization_id: text('organization_id').notNull(),
    key_id: text('key_id').notNull(),
    lines: int8('lines').notNull(),
    charged_nano_usd: int8('charged_nano_usd').notNull(),
    /** What the cap counted beyond the charges. */
    uncharged_nano_usd: int8('uncharged_nano_usd').notNull().default(0),
    /** The lines that have an overrun. */
    overruns: int8('overruns').notNull(),
    overrun_nano_usd: int8('overrun_nano_usd').notNull(),
    /** The date of the latest line. */
    last_at: instant('last_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.key_id, table.closed_until, table.organization_id] })],
);

/** The charges of a grant or a hold whose usage lines are removed. A grant may have later lines too. */
export const closedPayer = pgTable('closed_payer', {
  id: uuid('id').primaryKey(),
  charged_nano_usd: int8('charged_nano_usd').notNull(),
});

/** What removed usage lines of a day, channel and model were, for bills of providers. */
export const closedChannel = pgTable(
  'closed_channel',
  {
    /** The day in UTC. */
    day: date('day', { mode: 'string' }).notNull(),
    channel_id: text('channel_id').notNull(),
    model: text('model').notNull(),
    requests: int8('requests').notNull(),
    list_nano_usd: int8('list_nano_usd').notNull(),
    charged_nano_usd: int8('charged_nano_usd').notNull(),
    input_tokens: int8('input_tokens').notNull(),
    output_tokens: int8('output_tokens').notNull(),
    /** The sum of the prices that providers told with their answers, and how many told one. */
    paid_nano_usd: int8('paid_nano_usd').notNull(),
    paid_requests: int8('paid_requests').notNull(),
  },
  (table) => [primaryKey({ columns: [table.day, table.channel_id, table.model] })],
);
