/** Operators' switches, which override the configuration of channels. */
import { sql } from 'drizzle-orm';
import { check, pgTable, text } from 'drizzle-orm/pg-core';
import { instant } from '../columns.ts';

/** The switch of one channel. A channel without a row follows the configuration. */
export const channelSwitch = pgTable(
  'channel_switch',
  {
    channel_id: text('channel_id').primaryKey(),
    state: text('state', { enum: ['disabled', 'draining'] }).notNull(),
    /** Why the operator switched the channel. Shown to operators only. */
    reason: text('reason').notNull(),
    changed_at: instant('changed_at').notNull().default(sql`weir_now()`),
  },
  (table) => [check('channel_switch_is_off', sql`${table.state} in ('disabled', 'draining')`)],
);
