/** What decides whether a stored answer may be sent again. The answers themselves are in no table. */
import { index, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { instant } from '../columns.ts';

/** What a key thinks of an entry of the cache. A key has one vote for each entry. */
export const cacheVote = pgTable(
  'cache_vote',
  {
    organization_id: text('organization_id').notNull(),
    /** The request whose answer the entry is. Clients see it as `ce_…`. */
    entry_id: uuid('entry_id').notNull(),
    key_id: text('key_id').notNull(),
    feedback_type: text('feedback_type', {
      enum: ['wrong_answer', 'outdated', 'unsafe', 'irrelevant', 'good'],
    }).notNull(),
    description: text('description').notNull().default(''),
    at: instant('at').notNull(),
    /** From then on the entry cannot be alive. */
    keep_until: instant('keep_until').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.organization_id, table.entry_id, table.key_id] }),
    index('cache_vote_by_age').on(table.keep_until),
  ],
);

/** An entry that must not be sent again, and must not be stored by a replica that still has it. */
export const cacheRemoval = pgTable(
  'cache_removal',
  {
    organization_id: text('organization_id').notNull(),
    entry_id: uuid('entry_id').notNull(),
    keep_until: instant('keep_until').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.organization_id, table.entry_id] }),
    index('cache_removal_by_age').on(table.keep_until),
  ],
);

/**
 * How often the entries of an organization were purged. The number is a part of each entry's key, so a
 * purge makes all earlier entries useless, wherever they are.
 */
export const cacheGeneration = pgTable(
  'cache_generation',
  {
    organization_id: text('organization_id').notNull(),
    /** '' = all models. */
    model_id: text('model_id').notNull(),
    generation: integer('generation').notNull(),
  },
  (table) => [primaryKey({ columns: [table.organization_id, table.model_id] })],
);
