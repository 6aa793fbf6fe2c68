/** The data of durable tasks that the task machine does not need: inputs and results. */
import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
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

/**
 * One task. `status` is written in the transaction of each transition, so clients read only this
 * row (P11). The actor's row holds neither the prompt nor the result.
 */
export const task = pgTable(
  'task',
  {
    id: text('id').primaryKey(),
    organization_id: text('organization_id')
      .notNull()
      .references(() => organization.id),
    key_id: text('key_id')
      .notNull()
      .references(() => apiKey.id),
    request_id: uuid('request_id').notNull(),
    /** How the create call and the attempts went (`TaskFacts`). Null in tasks of earlier versions. */
    record: jsonb('record'),
    scene: text('scene', { enum: ['image', 'video', 'music', '3d', 'audio'] }).notNull(),
    /** The public model. */
    model: text('model').notNull(),
    status: text('status', { enum: ['pending', 'processing', 'completed', 'failed'] })
      .notNull()
      .default('pending'),
    /** The validated input; deleted when the task has ended. */
    input: jsonb('input'),
    /** The hold that pays the task; its amount is the upper bound of the charge. */
    hold_id: uuid('hold_id').notNull(),
    hold_nano_usd: bigint('hold_nano_usd', { mode: 'number' }).notNull(),
    /** True if the hold covers only the fee of an own key, so no channel of the platform may serve it. */
    own_only: boolean('own_only').notNull().default(false),
    /** True if the key's cap counts the list price of the task, also on an own key. */
    counts_list: boolean('counts_list').notNull().default(false),
    /** The idempotency key of the submission at the upstream, the same for every attempt. */
    submission_key: uuid('submission_key').notNull(),
    /**
     * The number of submissions. The latest one went to `channel_id`. The number is written before
     * each submission is sent (P10).
     */
    attempts: integer('attempts').notNull().default(0),
    /** The columns from here to `produced` are internal: clients must not see them (P5). */
    channel_id: text('channel_id'),
    /**
     * The time of the latest submission. Null = no submission was sent, or the upstream did not
     * accept the latest one.
     */
    submitted_at: instant('submitted_at'),
    /** The id of the job at the upstream, and other data that polls of the job need. */
    job: jsonb('job'),
    /** The upstream's result, without the bytes of its files. */
    produced: jsonb('produced'),
    /** The results in Weir's storage. They are public once the task is completed. */
    outputs: jsonb('outputs'),
    error_code: text('error_code'),
    error_message: text('error_message'),
    /** The usage line of the charge. */
    billing_id: uuid('billing_id'),
    webhook_url: text('webhook_url'),
    /** When the organization requested to cancel the task; null = never. */
    cancel_requested_at: instant('cancel_requested_at'),
    deadline_at: instant('deadline_at').notNull(),
    created_at: instant('created_at').notNull().default(sql`now()`),
    ended_at: instant('ended_at'),
  },
  (table) => [
    index('task_running_by_channel')
      .on(table.channel_id)
      .where(sql`${table.status} in ('pending', 'processing')`),
    // Each list of tasks is read in the order of one of these indexes.
    index('task_by_organization').on(table.organization_id, table.created_at, table.id),
    index('task_by_status').on(table.organization_id, table.status, table.created_at, table.id),
    index('task_by_model').on(table.organization_id, table.model, table.created_at, table.id),
    index('task_by_scene').on(table.organization_id, table.scene, table.created_at, table.id),
    index('task_by_key').on(table.key_id, table.created_at, table.id),
    index('task_by_time').on(table.created_at, table.id),
    index('task_by_request').on(table.request_id),
    index('task_by_end').on(table.organization_id, table.ended_at),
    index('task_by_channel').on(table.channel_id, table.created_at, table.id),
    check(
      'only_a_completed_task_is_charged',
      sql`(${table.status} = 'completed') = (${table.billing_id} is not null)`,
    ),
    check(
      'a_failed_task_says_why',
      sql`${table.status} <> 'failed' or ${table.error_code} is not null`,
    ),
    check(
      'an_ended_task_has_an_end',
      sql`(${table.status} in ('completed', 'failed')) = (${table.ended_at} is not null)`,
    ),
  ],
);

/**
 * Create requests with an `Idempotency-Key`. A request of the same API key with the same value
 * returns the same task or message batch (P7).
 */
export const taskRequest = pgTable(
  'task_request',
  {
    /** The API key that sent the request. */
    key_id: text('key_id').notNull(),
    organization_id: text('organization_id').notNull(),
    /** Path of the create route. */
    route: text('route').notNull(),
    idempotency_key: text('idempotency_key').notNull(),
    /** SHA-256 of the body, as hex. The same key with another body is refused. */
    body_hash: text('body_hash').notNull(),
    /** The task or message batch that the request created. */
    task_id: text('task_id').notNull(),
    created_at: instant('created_at').notNull().default(sql`now()`),
  },
  (table) => [
    primaryKey({ columns: [table.key_id, table.route, table.idempotency_key] }),
    index('task_request_by_age').on(table.created_at),
  ],
);
