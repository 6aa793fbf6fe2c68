/** The outcomes of models in each minute, and the ranking that is built from these outcomes. */
import { sql } from 'drizzle-orm';
import { check, index, integer, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { instant } from '../columns.ts';

/** Outcomes of one model on one channel in one minute, without client errors (P9). */
export const outcomeMinute = pgTable(
  'outcome_minute',
  {
    /** Internal: no public route shows this id (P5). */
    channel_id: text('channel_id').notNull(),
    model: text('model').notNull(),
    /** The scene of the model, i.e. what the model makes: `chat`, `image` … */
    scene: text('scene').notNull(),
    minute: instant('minute').notNull(),
    succeeded: integer('succeeded').notNull().default(0),
    failed: integer('failed').notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.model, table.channel_id, table.minute] }),
    index('outcome_minute_by_time').on(table.minute),
    check('outcomes_never_negative', sql`${table.succeeded} >= 0 and ${table.failed} >= 0`),
  ],
);

/** The latest ranking: one row, which one replica writes each minute (P14). */
export const ranking = pgTable(
  'ranking',
  {
    id: integer('id').primaryKey(),
    updated_at: instant('updated_at').notNull(),
    /** Maps each scene to its models in order. */
    body: jsonb('body').notNull(),
  },
  (table) => [check('there_is_one_ranking', sql`${table.id} = 1`)],
);
