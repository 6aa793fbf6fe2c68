/** What operators configure by a route, beside the channels, and what they changed. */
import { sql } from 'drizzle-orm';
import { bigint, check, index, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { instant } from '../columns.ts';

/** A model, a price, a routing or a preset that an operator set. What `weir.yaml` declares wins. */
export const configuredItem = pgTable(
  'configured_item',
  {
    kind: text('kind', { enum: ['model', 'price', 'routing', 'preset'] }).notNull(),
    /** The model; of a preset the scene. */
    id: text('id').notNull(),
    /** The members that the operator set. */
    value: jsonb('value').notNull(),
    created_at: instant('created_at').notNull().default(sql`weir_now()`),
    changed_at: instant('changed_at').notNull().default(sql`weir_now()`),
  },
  (table) => [
    primaryKey({ columns: [table.kind, table.id] }),
    check('configured_item_kind', sql`${table.kind} in ('model', 'price', 'routing', 'preset')`),
  ],
);

/**
 * A change of a row that operators configure, with what is needed to take it back. The keys of channels
 * in it are encrypted. Old rows are deleted; the line of the audit log stays.
 */
export const configurationChange = pgTable(
  'configuration_change',
  {
    /** The number of the change's line in the audit log of the installation. */
    seq: bigint('seq', { mode: 'number' }).primaryKey(),
    kind: text('kind', {
      enum: ['channel', 'channel_switch', 'model', 'price', 'routing', 'preset'],
    }).notNull(),
    id: text('id').notNull(),
    /** The whole row; null = there was none. */
    before: jsonb('before'),
    after: jsonb('after'),
    /** The change that this one took back; null = none. */
    takes_back: bigint('takes_back', { mode: 'number' }),
    at: instant('at').notNull().default(sql`weir_now()`),
  },
  (table) => [
    index('configuration_change_by_object').on(table.kind, table.id, table.seq),
    index('configuration_change_by_time').on(table.at),
  ],
);
