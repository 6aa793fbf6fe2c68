/** Operators' switches, which override the configuration of channels, and the history of circuits. */
import { sql } from 'drizzle-orm';
import { boolean, check, index, pgTable, text, uuid } from 'drizzle-orm/pg-core';
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

/**
 * One change of state of one circuit on one replica. A circuit is a model on a channel, and each
 * replica has its own. Rows are written in groups, shortly after the changes.
 */
export const channelTransition = pgTable(
  'channel_transition',
  {
    /** A UUID of version 7. The replica chose it, so a repeated insert adds no row. */
    id: uuid('id').primaryKey(),
    channel_id: text('channel_id').notNull(),
    /** The public model. */
    model: text('model').notNull(),
    replica_id: text('replica_id').notNull(),
    from_state: text('from_state').notNull(),
    to_state: text('to_state').notNull(),
    /** Why the circuit is open or disabled, e.g. `throttle` or `server`; null = it is neither. */
    cause: text('cause'),
    /** True if a message of another replica caused the change. */
    is_from_peer: boolean('is_from_peer').notNull(),
    /** Before this time the replica sends no call; null = it may send calls. */
    open_until: instant('open_until'),
    /** When the replica changed the state, on the clock of the replica. */
    at: instant('at').notNull(),
  },
  (table) => [
    index('channel_transition_by_channel').on(table.channel_id, table.at, table.id),
    index('channel_transition_by_circuit').on(
      table.channel_id,
      table.model,
      table.replica_id,
      table.at,
      table.id,
    ),
    index('channel_transition_by_age').on(table.at),
  ],
);
