/** The tables of durable actors: their state, event log, timers and effects. */
import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { instant } from '../columns.ts';

/** A durable actor: the committed snapshot of its machine. */
export const actor = pgTable(
  'actor',
  {
    kind: text('kind').notNull(),
    id: text('id').notNull(),
    /** The organization to which the actor belongs; null = none, or not known. */
    organization_id: text('organization_id'),
    machine_version: integer('machine_version').notNull(),
    snapshot: jsonb('snapshot').notNull(),
    /**
     * The state of the snapshot as a path, e.g. `processing.polling`. Empty until the first event
     * if a replica of an earlier version of Weir created the row.
     */
    state: text('state').notNull().default(''),
    /**
     * The first part of `state`, e.g. `processing`. Each poll of a task changes its `state` twice,
     * but not its `top_state`. The indexes use `top_state`, so a poll changes no index (PostgreSQL
     * docs: Heap-Only Tuples).
     */
    top_state: text('top_state').notNull().generatedAlwaysAs(sql`split_part(state, '.', 1)`),
    /** When the actor entered `top_state`. */
    since: instant('since').notNull().default(sql`now()`),
    /** Number of the last committed event. */
    seq: integer('seq').notNull().default(0),
    /** False after the machine reached a final state. */
    live: boolean('live').notNull().default(true),
    /** The replica that runs the actor. `epoch` grows when another replica adopts the actor. */
    owner: text('owner'),
    epoch: bigint('epoch', { mode: 'number' }).notNull().default(0),
    created_at: instant('created_at').notNull().default(sql`now()`),
    updated_at: instant('updated_at').notNull().default(sql`now()`),
  },
  (table) => [
    primaryKey({ columns: [table.kind, table.id] }),
    index('live_actors_by_owner').on(table.owner).where(sql`live`),
    index('actor_by_state').on(table.kind, table.top_state, table.since),
    index('actor_by_organization').on(table.organization_id, table.kind, table.since),
    index('live_actors_by_since').on(table.kind, table.since).where(sql`live`),
  ],
);

/** The event log of durable actors: for audit, to view earlier states, and for replay. */
export const actorEvent = pgTable(
  'actor_event',
  {
    kind: text('kind').notNull(),
    actor_id: text('actor_id').notNull(),
    seq: integer('seq').notNull(),
    /**
     * The command's id. If Weir does not know whether a command was committed, the command runs
     * again. This id then shows whether the earlier run was committed.
     */
    command_id: uuid('command_id').notNull(),
    event: jsonb('event').notNull(),
    from_state: text('from_state').notNull(),
    to_state: text('to_state').notNull(),
    /** False if no transition took the event. Such an event is stored too. */
    taken: boolean('taken').notNull(),
    /** The version of the machine that got the event. */
    machine_version: integer('machine_version').notNull().default(1),
    /**
     * The hash of the actor's state and context after the event. Null for events of an earlier
     * version of Weir, which stored no hashes.
     */
    context_hash: text('context_hash'),
    /**
     * What the ledger did to the actor's hold in the same transaction, nano-USD: `{"held": n}` or
     * `{"settled": n, "released": n}`; null = nothing.
     */
    money: jsonb('money'),
    at: instant('at').notNull().default(sql`now()`),
  },
  (table) => [
    primaryKey({ columns: [table.kind, table.actor_id, table.seq] }),
    uniqueIndex('actor_event_by_command').on(table.command_id),
  ],
);

/**
 * A delay that survives a restart. `generation` is the number of the event that set the timer. If a
 * timer is set again, only its latest generation fires.
 */
export const timer = pgTable(
  'timer',
  {
    kind: text('kind').notNull(),
    actor_id: text('actor_id').notNull(),
    name: text('name').notNull(),
    generation: integer('generation').notNull().default(1),
    fire_at: instant('fire_at').notNull(),
    event: jsonb('event').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.kind, table.actor_id, table.name] }),
    index('timer_by_fire_at').on(table.fire_at),
  ],
);

/** An effect of a committed transition. It runs at least once. Its id is its idempotency key. */
export const outbox = pgTable(
  'outbox',
  {
    id: uuid('id').primaryKey(),
    kind: text('kind').notNull(),
    actor_id: text('actor_id').notNull(),
    /** The number of the event whose transition created the effect. */
    seq: integer('seq').notNull(),
    effect: text('effect').notNull(),
    params: jsonb('params').notNull(),
    status: text('status', { enum: ['pending', 'done', 'dead'] })
      .notNull()
      .default('pending'),
    attempts: integer('attempts').notNull().default(0),
    next_attempt_at: instant('next_attempt_at').notNull().default(sql`now()`),
    last_error: text('last_error'),
    created_at: instant('created_at').notNull().default(sql`now()`),
  },
  (table) => [
    index('pending_outbox').on(table.next_attempt_at).where(sql`status = 'pending'`),
    index('outbox_of_actor').on(table.kind, table.actor_id),
  ],
);
