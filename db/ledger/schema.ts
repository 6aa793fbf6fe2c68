/** The lines of the ledger. The tables of money are in db/schema.ts. */
import { sql } from 'drizzle-orm';
import { bigint, boolean, check, index, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { instant } from '../columns.ts';
import { recordColumns } from '../records/columns.ts';

/** An amount of money: `int8` in the database, an exact JS number outside. */
const int8 = (name: string) => bigint(name, { mode: 'number' });

/**
 * The usage line of a request: one settled charge. `id` is the billing transaction (`txn_…` in the
 * API), so a repeated settlement changes nothing (P15).
 */
export const usageLine = pgTable(
  'usage_line',
  {
    id: uuid('id').primaryKey(),
    request_id: uuid('request_id').notNull(),
    organization_id: text('organization_id').notNull(),
    key_id: text('key_id').notNull(),
    /** The grant or the hold that paid the charge. Exactly one of the two columns is set. */
    grant_id: uuid('grant_id'),
    hold_id: uuid('hold_id'),
    scene: text('scene').notNull(),
    access_channel: text('access_channel', { enum: ['platform', 'byok'] }).notNull(),
    model: text('model').notNull(),
    model_vendor: text('model_vendor').notNull(),
    /** Internal: no public route shows this id (P5). */
    channel_id: text('channel_id').notNull(),
    /**
     * `completed`: the answer was fully delivered. `partial`: the client left, the cap was reached
     * or the upstream failed. `cached`: an earlier answer was sent again, for a part of its price.
     */
    outcome: text('outcome', { enum: ['completed', 'partial', 'cached'] }).notNull(),
    input_tokens: integer('input_tokens').notNull(),
    cached_input_tokens: integer('cached_input_tokens').notNull(),
    cache_write_tokens: integer('cache_write_tokens').notNull(),
    output_tokens: integer('output_tokens').notNull(),
    /** True if the upstream reported no usage, so Weir counted the tokens with a tokenizer. */
    estimated: boolean('estimated').notNull(),
    charged_nano_usd: int8('charged_nano_usd').notNull(),
    /**
     * The amount that the platform absorbed, because it exceeded the reservation or hold, or
     * because the grant was already closed (P12).
     */
    overrun_nano_usd: int8('overrun_nano_usd').notNull().default(0),
    /** The price in the catalogue of a call on an own key. Null: the charge and the overrun. */
    list_nano_usd: int8('list_nano_usd'),
    /** What the key's cap counted. Null: the charge. */
    counted_nano_usd: int8('counted_nano_usd'),
    created_at: instant('created_at').notNull().default(sql`now()`),
    ...recordColumns(),
  },
  (table) => [
    // Lists are also sorted by id. An index with the id would make each settlement a fourteenth dearer, and
    // few lines have the same millisecond.
    index('usage_by_key').on(table.key_id, table.at),
    index('usage_by_organization').on(table.organization_id, table.at),
    index('usage_by_transaction').using('brin', table.xid),
    index('usage_by_cache_entry')
      .on(sql`(detail->>'cache_entry_id')`)
      .where(sql`(detail->>'cache_entry_id') is not null`),
    check('charge_never_negative', sql`${table.charged_nano_usd} >= 0`),
    check('overrun_never_negative', sql`${table.overrun_nano_usd} >= 0`),
    check(
      'usage_is_paid_from_one_place',
      sql`(${table.grant_id} is null) <> (${table.hold_id} is null)`,
    ),
  ],
);
