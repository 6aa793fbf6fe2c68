/** Message batches: many calls of one client that run in the background. */
import { sql } from 'drizzle-orm';
import {
  bigint,
  check,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uuid,
} from 'drizzle-orm/pg-core';
import { instant } from '../columns.ts';
import { apiKey, organization } from '../schema.ts';

/** One batch. Its actor has the same id. Ids are ordered by time, so lists are sorted by id. */
export const messageBatch = pgTable(
  'message_batch',
  {
    id: text('id').primaryKey(),
    organization_id: text('organization_id')
      .notNull()
      .references(() => organization.id),
    key_id: text('key_id')
      .notNull()
      .references(() => apiKey.id),
    /** In `received`, the items are being inserted and the batch is hidden. */
    status: text('status', { enum: ['received', 'in_progress', 'canceling', 'ended'] })
      .notNull()
      .default('received'),
    /** Request headers for the call of each item. */
    headers: jsonb('headers').notNull(),
    /** The program of the client that created the batch. The record of each item names it. */
    program: text('program').notNull().default(''),
    total: integer('total').notNull().default(0),
    /** How many items have each result; null until the batch has ended. */
    counts: jsonb('counts'),
    /** How many items have succeeded and failed so far. */
    succeeded: integer('succeeded').notNull().default(0),
    errored: integer('errored').notNull().default(0),
    /** The charges of the ended items so far, nano-USD; null = not recorded. */
    charged_nano_usd: bigint('charged_nano_usd', { mode: 'number' }),
    created_at: instant('created_at').notNull().default(sql`weir_now()`),
    expires_at: instant('expires_at').notNull(),
    cancel_initiated_at: instant('cancel_initiated_at'),
    ended_at: instant('ended_at'),
    /** When the results were deleted. */
    archived_at: instant('archived_at'),
  },
  (table) => [
    index('message_batch_by_organization').on(table.organization_id, table.id),
    // Each list of batches is read in the order of one of these indexes.
    index('message_batch_by_time').on(table.organization_id, table.created_at, table.id),
    index('message_batch_by_status').on(
      table.organization_id,
      table.status,
      table.created_at,
      table.id,
    ),
    index('message_batch_by_key').on(table.key_id, table.created_at, table.id),
    index('message_batch_by_end').on(table.ended_at).where(sql`archived_at is null`),
    check(
      'an_ended_batch_is_counted',
      sql`(${table.status} = 'ended') = (${table.counts} is not null)`,
    ),
  ],
);

/** One call of a batch. */
export const batchItem = pgTable(
  'batch_item',
  {
    batch_id: text('batch_id')
      .notNull()
      .references(() => messageBatch.id, { onDelete: 'cascade' }),
    position: integer('position').notNull(),
    custom_id: text('custom_id').notNull(),
    /** The body of the call, as JSON. */
    params: text('params').notNull(),
    /** Also the id of the usage line, so an item that runs several times is charged once (P3). */
    request_id: uuid('request_id').notNull(),
    /** Null until the item has ended. */
    result: text('result', { enum: ['succeeded', 'errored', 'canceled', 'expired'] }),
    /** The model's message or an error, as JSON. */
    answer: text('answer'),
    /** The charge for `answer`. The ledger may not have committed it yet. */
    draft: jsonb('draft'),
    attempts: integer('attempts').notNull().default(0),
    next_attempt_at: instant('next_attempt_at').notNull().default(sql`weir_now()`),
  },
  (table) => [
    primaryKey({ columns: [table.batch_id, table.position] }),
    index('batch_items_to_do').on(table.batch_id, table.position).where(sql`result is null`),
  ],
);
