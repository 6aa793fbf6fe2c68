/** What an organization may spend in a day, a week or a month. */
import { sql } from 'drizzle-orm';
import { bigint, check, date, index, pgTable, primaryKey, text, unique } from 'drizzle-orm/pg-core';
import { instant } from '../columns.ts';
import { apiKey, organization } from '../schema.ts';

const int8 = (name: string) => bigint(name, { mode: 'number' });

/** The most that an organization, or one of its keys, may spend in each window of a kind. */
export const budget = pgTable(
  'budget',
  {
    id: text('id').primaryKey(),
    organization_id: text('organization_id')
      .notNull()
      .references(() => organization.id),
    /** The key that the budget limits; null = all keys of the organization together. */
    key_id: text('key_id').references(() => apiKey.id),
    /** The tag whose calls the budget limits (`metadata` of a call); null = calls with any tags or none. */
    tag_name: text('tag_name'),
    tag_value: text('tag_value'),
    period: text('period', { enum: ['day', 'week', 'month'] }).notNull(),
    limit_nano_usd: int8('limit_nano_usd').notNull(),
    /** What happens to a call that does not fit. */
    when_reached: text('when_reached', { enum: ['refuse', 'warn', 'move'] })
      .notNull()
      .default('refuse'),
    /** The model to which such a call moves; null unless `when_reached` is `move`. */
    move_to: text('move_to'),
    created_at: instant('created_at').notNull().default(sql`weir_now()`),
  },
  (table) => [
    unique('one_budget_per_scope_and_period')
      .on(table.organization_id, table.key_id, table.tag_name, table.tag_value, table.period)
      .nullsNotDistinct(),
    index('budget_by_key').on(table.key_id),
    check(
      'budget_has_one_scope',
      sql`(${table.tag_name} is null) = (${table.tag_value} is null) and (${table.tag_name} is null or ${table.key_id} is null)`,
    ),
    check('budget_limit_never_negative', sql`${table.limit_nano_usd} >= 0`),
    check(
      'budget_names_a_model_to_move_to',
      sql`(${table.when_reached} = 'move') = (${table.move_to} is not null)`,
    ),
  ],
);

/**
 * One window of a budget. Its sums are those of the grants and holds of the budget's keys whose `day` is in the
 * window. They change only while the organization's row is locked.
 */
export const budgetWindow = pgTable(
  'budget_window',
  {
    budget_id: text('budget_id')
      .notNull()
      .references(() => budget.id, { onDelete: 'cascade' }),
    /** The first day of the window, in the organization's time zone. */
    starts_on: date('starts_on', { mode: 'string' }).notNull(),
    used_nano_usd: int8('used_nano_usd').notNull(),
    held_nano_usd: int8('held_nano_usd').notNull(),
    /** The limit, or the used and held money if that is more, as of a key. */
    ceiling_nano_usd: int8('ceiling_nano_usd').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.budget_id, table.starts_on] }),
    check('budget_used_never_negative', sql`${table.used_nano_usd} >= 0`),
    check('budget_held_never_negative', sql`${table.held_nano_usd} >= 0`),
    check(
      'window_never_over_its_budget',
      sql`${table.used_nano_usd} + ${table.held_nano_usd} <= ${table.ceiling_nano_usd}`,
    ),
  ],
);
