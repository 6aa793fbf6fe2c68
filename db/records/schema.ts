/** Calls that cost nothing. The record of a call that was charged is its usage line. */
import { sql } from 'drizzle-orm';
import { index, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { instant } from '../columns.ts';
import { recordColumns } from './columns.ts';

/**
 * The record of an authenticated call without a usage line: it was refused, failed or canceled, it
 * repeated an earlier answer, it was answered from the cache, it created a task, or it was free. No prompt and no answer is stored.
 */
export const callRecord = pgTable(
  'call_record',
  {
    /** The id of the request. */
    id: uuid('id').primaryKey(),
    organization_id: text('organization_id').notNull(),
    key_id: text('key_id').notNull(),
    scene: text('scene').notNull(),
    /** The public model, or the text that the client sent as its model. */
    model: text('model').notNull(),
    model_vendor: text('model_vendor').notNull(),
    /** Internal: no public route shows this id (P5). '' if no channel was tried. */
    channel_id: text('channel_id').notNull(),
    outcome: text('outcome', {
      enum: ['refused', 'failed', 'canceled', 'repeated', 'cached', 'accepted', 'free'],
    }).notNull(),
    status: integer('status').notNull(),
    error_code: text('error_code'),
    /** Whose fault a failure is: `caller`, `cap`, `weir`, `account` (the channel's key) or `provider`. */
    fault: text('fault'),
    /** The task that the call created. Its usage line is the record of what it cost. */
    task_id: text('task_id'),
    created_at: instant('created_at').notNull().default(sql`now()`),
    ...recordColumns(),
  },
  (table) => [
    index('call_record_by_key').on(table.key_id, table.at),
    index('call_record_by_organization').on(table.organization_id, table.at),
    index('call_record_by_transaction').using('brin', table.xid),
    index('call_record_by_cache_entry')
      .on(sql`(detail->>'cache_entry_id')`)
      .where(sql`(detail->>'cache_entry_id') is not null`),
  ],
);
