/**
 * Sums of usage lines and records of calls, for queries over long times. They are exact: a row is
 * added once, in the transaction that moves the fold's snapshot (docs/decisions/usage-roll-ups.md).
 */
import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { instant } from '../../columns.ts';

const int8 = (name: string) => bigint(name, { mode: 'number' });

/** What a sum is of. A short number stands for it in the rows of sums. */
export const usageSeries = pgTable(
  'usage_series',
  {
    id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
    organization_id: text('organization_id').notNull(),
    /**
     * `organization`: all keys, by all names. `by_model`, `by_protocol`, `by_outcome`: all keys, by some
     * names only, so that most queries read few sums. `total`: all calls of the organization. `key`:
     * one key, by all names. `key_model`: one key, by the names of `by_model`. `key_total`: all calls of
     * one key.
     */
    scope: text('scope', {
      enum: [
        'organization',
        'by_model',
        'by_protocol',
        'by_outcome',
        'total',
        'key',
        'key_model',
        'key_total',
      ],
    }).notNull(),
    /** '' if the scope is not of a key. */
    key_id: text('key_id').notNull(),
    /** '' in this column and the next ones if the scope has not this name. */
    scene: text('scene').notNull(),
    /** '' if a call was refused and its model is not in the catalogue. */
    model: text('model').notNull(),
    model_vendor: text('model_vendor').notNull(),
    access_channel: text('access_channel').notNull(),
    protocol: text('protocol').notNull(),
    outcome: text('outcome').notNull(),
  },
  (table) => [
    uniqueIndex('usage_series_by_name').on(
      table.organization_id,
      table.scope,
      table.key_id,
      table.scene,
      table.model,
      table.model_vendor,
      table.access_channel,
      table.protocol,
      table.outcome,
    ),
  ],
);

/** The sums of one series in one span of time. */
const counts = () => ({
  requests: integer('requests').notNull(),
  /** The usage lines among the requests. */
  charges: integer('charges').notNull(),
  succeeded: integer('succeeded').notNull(),
  charged_nano_usd: int8('charged_nano_usd').notNull(),
  /** The prices before the platform absorbed a part of them. */
  list_nano_usd: int8('list_nano_usd').notNull(),
  input_tokens: int8('input_tokens').notNull(),
  cached_input_tokens: int8('cached_input_tokens').notNull(),
  cache_write_tokens: int8('cache_write_tokens').notNull(),
  output_tokens: int8('output_tokens').notNull(),
  reasoning_tokens: int8('reasoning_tokens').notNull(),
  audio_tokens: int8('audio_tokens').notNull(),
  duration_ms: int8('duration_ms').notNull(),
  /** The requests whose duration is known. */
  durations: integer('durations').notNull(),
  first_token_ms: int8('first_token_ms').notNull(),
  first_tokens: integer('first_tokens').notNull(),
  /** The requests that looked for their answer in the cache, and those that found it there. */
  cache_lookups: integer('cache_lookups').notNull().default(0),
  cache_hits: integer('cache_hits').notNull().default(0),
  /** What these hits would have cost, less what was charged for them. */
  saved_nano_usd: int8('saved_nano_usd').notNull().default(0),
});

/** Requests by the class of their duration. Null means 0, which needs no space. */
const sums = () => ({
  ...counts(),
  ...Object.fromEntries(
    Array.from({ length: 32 }, (_, bin) => [`took_${bin}`, integer(`took_${bin}`)]),
  ),
});

const quarters = () => ({
  series_id: integer('series_id').notNull(),
  quarter: integer('quarter').notNull(),
  ...sums(),
});
const days = () => ({
  series_id: integer('series_id').notNull(),
  day: integer('day').notNull(),
  ...sums(),
});

/**
 * Sums of 15 minutes of all keys by few names. `quarter` counts them from the Unix epoch. Midnights of
 * all time zones are bounds of such spans. Each kind of sums has tables of its own. So the few rows
 * that most queries read lie close together.
 */
export const usageQuarter = pgTable('usage_quarter', quarters(), (table) => [
  primaryKey({ columns: [table.series_id, table.quarter] }),
]);

/** The same for all keys by all names. */
export const usageNameQuarter = pgTable('usage_name_quarter', quarters(), (table) => [
  primaryKey({ columns: [table.series_id, table.quarter] }),
]);

/** The same for all calls of each key. */
export const usageKeyQuarter = pgTable('usage_key_quarter', quarters(), (table) => [
  primaryKey({ columns: [table.series_id, table.quarter] }),
]);

/** Sums of a day in UTC of all keys by few names. `day` counts days from the Unix epoch. */
export const usageDay = pgTable('usage_day', days(), (table) => [
  primaryKey({ columns: [table.series_id, table.day] }),
]);

/** The same for all keys by all names. */
export const usageNameDay = pgTable('usage_name_day', days(), (table) => [
  primaryKey({ columns: [table.series_id, table.day] }),
]);

/** The same for all calls of each key. */
export const usageKeyDay = pgTable('usage_key_day', days(), (table) => [
  primaryKey({ columns: [table.series_id, table.day] }),
]);

const ownedDays = () => ({
  ...days(),
  /** The series `total` of the organization. So an index finds the sums of all its keys in some days. */
  owner_id: integer('owner_id').notNull(),
});

/** The same for each key by all names. A key has few calls of a name in 15 minutes. */
export const usageKeyNameDay = pgTable('usage_key_name_day', ownedDays(), (table) => [
  primaryKey({ columns: [table.series_id, table.day] }),
  index('usage_key_name_day_by_owner').on(table.owner_id, table.day),
]);

/** The same for each key by the names of models: a third of the rows. */
export const usageKeyModelDay = pgTable('usage_key_model_day', ownedDays(), (table) => [
  primaryKey({ columns: [table.series_id, table.day] }),
  index('usage_key_model_day_by_owner').on(table.owner_id, table.day),
]);

/**
 * The same of weeks in UTC, which begin with Mondays: a few rows of a series for a month. They have no classes of
 * durations, so that a fold has less to write.
 */
export const usageKeyModelWeek = pgTable(
  'usage_key_model_week',
  {
    series_id: integer('series_id').notNull(),
    /** Counts weeks from the one that the Unix epoch is in. */
    week: integer('week').notNull(),
    ...counts(),
    /** The series `total` of the organization. */
    owner_id: integer('owner_id').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.series_id, table.week] }),
    index('usage_key_model_week_by_owner').on(table.owner_id, table.week),
  ],
);

/** The single row that says which rows the sums have: those of one committed state (`AsOf`). */
export const usageFold = pgTable(
  'usage_fold',
  {
    id: integer('id').primaryKey().default(1),
    next_xid: int8('next_xid').notNull().default(0),
    open_xids: int8('open_xids').array().notNull().default(sql`'{}'`),
    /** False while rows are folded that are older than the first fold. Until then nobody reads sums. */
    is_ready: boolean('is_ready').notNull().default(false),
    /** The last row of the older ones that is folded. */
    table_name: text('table_name').notNull().default('usage_line'),
    organization_id: text('organization_id').notNull().default(''),
    at: instant('at').notNull().default(sql`'-infinity'`),
    row_id: uuid('row_id').notNull().default(sql`'00000000-0000-0000-0000-000000000000'`),
    /** The state that `usage_key_model_day` has, as text. Only replicas of an earlier version read it. */
    key_models_of: text('key_models_of').notNull().default(''),
    /** The state that `usage_key_model_day` and `usage_key_model_week` both have (`key-models.ts`). */
    key_model_weeks_of: text('key_model_weeks_of').notNull().default(''),
    /** When these tables were last made anew. */
    key_models_at: instant('key_models_at').notNull().default(sql`'-infinity'`),
    /** The committed state whose rows are in the sums of the cache (`cache-sums.ts`). */
    cache_next_xid: int8('cache_next_xid').notNull().default(0),
    cache_open_xids: int8('cache_open_xids').array().notNull().default(sql`'{}'`),
  },
  (table) => [check('usage_fold_has_one_row', sql`${table.id} = 1`)],
);
