/** Channels that operators made, their switches on all channels, and the history of circuits. */
import { sql } from 'drizzle-orm';
import {
  boolean,
  check,
  doublePrecision,
  index,
  integer,
  jsonb,
  pgTable,
  text,
  uuid,
} from 'drizzle-orm/pg-core';
import { instant } from '../columns.ts';

/** A channel that an operator made by a route. A channel of `weir.yaml` with the same id wins. */
export const channel = pgTable(
  'channel',
  {
    id: text('id').primaryKey(),
    protocol: text('protocol').notNull(),
    base_url: text('base_url').notNull(),
    /** The key of the upstream account, encrypted (src/config/row-channels.ts). */
    sealed_key: text('sealed_key').notNull(),
    api_key_changed_at: instant('api_key_changed_at').notNull().default(sql`weir_now()`),
    /** Public model id → physical model id. */
    models: jsonb('models').$type<Readonly<Record<string, string>>>().notNull(),
    priority: integer('priority').notNull(),
    weight: doublePrecision('weight').notNull(),
    max_concurrency: integer('max_concurrency').notNull(),
    timeout_ms: integer('timeout_ms').notNull(),
    enabled: boolean('enabled').notNull(),
    created_at: instant('created_at').notNull().default(sql`weir_now()`),
  },
  (table) => [
    check('channel_weight_is_positive', sql`${table.weight} > 0`),
    check(
      'channel_limits_are_positive',
      sql`${table.max_concurrency} > 0 and ${table.timeout_ms} > 0`,
    ),
  ],
);

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
