/** Alerts, the endpoints that receive them, and their deliveries. */
import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  doublePrecision,
  index,
  integer,
  jsonb,
  pgTable,
  text,
  unique,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { instant } from '../columns.ts';

/**
 * The organization whose alerts they are; '' = the operators of the installation. It is no foreign key: its check
 * would lock the organization's row, on which calls wait for money.
 */
const owner = () => text('owner_id').notNull();
const createdAt = () => instant('created_at').notNull().default(sql`weir_now()`);

/** Where alerts are sent. */
export const alertEndpoint = pgTable(
  'alert_endpoint',
  {
    id: text('id').primaryKey(),
    owner_id: owner(),
    name: text('name').notNull(),
    medium: text('medium', { enum: ['webhook', 'mail'] }).notNull(),
    /** The URL of a webhook, or an e-mail address. */
    target: text('target').notNull(),
    /** The kinds of alerts that the endpoint receives. */
    kinds: text('kinds').array().notNull(),
    enabled: boolean('enabled').notNull().default(true),
    /** The secret that signs webhooks (Standard Webhooks), encrypted; null for mail. */
    sealed_secret: text('sealed_secret'),
    /** A deleted endpoint is in no list. Its row stays, because deliveries refer to it. */
    deleted_at: instant('deleted_at'),
    created_at: createdAt(),
  },
  (table) => [
    index('alert_endpoint_by_owner')
      .on(table.owner_id, table.created_at, table.id)
      .where(sql`deleted_at is null`),
    check(
      'alert_endpoint_signs_webhooks_only',
      sql`(${table.medium} = 'webhook') = (${table.sealed_secret} is not null)`,
    ),
    check('alert_endpoint_is_bounded', sql`length(name) <= 200 and length(target) <= 2048`),
  ],
);

/** One alert. The unique constraint is what makes it once for its cause. */
export const alertTable = pgTable(
  'alert',
  {
    id: text('id').primaryKey(),
    owner_id: owner(),
    kind: text('kind').notNull(),
    /** Names the cause. The same cause has the same text, and a new cause has another one. */
    cause: text('cause').notNull(),
    subject_kind: text('subject_kind').notNull(),
    subject_id: text('subject_id').notNull(),
    subject_name: text('subject_name').notNull(),
    /** What the alert says, as numbers and names. */
    figures: jsonb('figures').$type<Readonly<Record<string, unknown>>>().notNull(),
    /** When a state ended; null while it lasts, and for alerts to an instant. */
    ended_at: instant('ended_at'),
    created_at: createdAt(),
  },
  (table) => [
    unique('alert_once_for_its_cause').on(table.owner_id, table.cause),
    index('alert_by_owner').on(table.owner_id, table.created_at, table.id),
    index('alert_by_kind').on(table.owner_id, table.kind, table.created_at),
    // A channel is down once at a time.
    uniqueIndex('alert_of_a_channel_that_is_down')
      .on(table.subject_id)
      .where(sql`kind = 'channel_down' and ended_at is null`),
  ],
);

/**
 * One alert that goes to one endpoint. The id is the header `webhook-id`. A durable actor delivers it
 * (src/machines/webhook.ts), and the row is written in the transaction of each of its transitions.
 */
export const alertDelivery = pgTable(
  'alert_delivery',
  {
    id: text('id').primaryKey(),
    alert_id: text('alert_id')
      .notNull()
      .references(() => alertTable.id),
    endpoint_id: text('endpoint_id')
      .notNull()
      .references(() => alertEndpoint.id),
    owner_id: owner(),
    /** `queued`: the actor does not exist yet. A replica creates it after the commit, or a later one does. */
    status: text('status', { enum: ['queued', 'pending', 'delivered', 'failed'] })
      .notNull()
      .default('queued'),
    attempts: integer('attempts').notNull().default(0),
    /** The HTTP or SMTP status of the last attempt; 0 = the receiver sent no response. */
    last_status: integer('last_status'),
    /** How often a request sent it again. Each such request has an actor of its own. */
    redeliveries: integer('redeliveries').notNull().default(0),
    /** The attempts of the actors before the present one. `attempts` includes them. */
    earlier_attempts: integer('earlier_attempts').notNull().default(0),
    created_at: createdAt(),
    ended_at: instant('ended_at'),
  },
  (table) => [
    unique('alert_delivery_once_for_each_endpoint').on(table.alert_id, table.endpoint_id),
    index('alert_delivery_by_owner').on(table.owner_id, table.created_at, table.id),
    index('alert_delivery_by_endpoint').on(table.endpoint_id, table.created_at, table.id),
    index('alert_delivery_queued').on(table.created_at).where(sql`status = 'queued'`),
    check('alert_attempts_never_negative', sql`${table.attempts} >= 0`),
  ],
);

/** What an organization set for its alerts. An organization without a row has the defaults. */
export const alertSettings = pgTable(
  'alert_settings',
  {
    owner_id: text('owner_id').primaryKey(),
    /** A balance below it is low; null = a balance that lasts for fewer than three days. */
    low_balance_nano_usd: bigint('low_balance_nano_usd', { mode: 'number' }),
    unused_days: integer('unused_days').notNull(),
    unusual_factor: doublePrecision('unusual_factor').notNull(),
  },
  (table) => [
    check('alert_settings_are_positive', sql`unused_days > 0 and ${table.unusual_factor} > 1`),
  ],
);

/** When each rule was last evaluated. The replica that locks the row evaluates the rule. */
export const alertTurn = pgTable('alert_turn', {
  rule: text('rule').primaryKey(),
  evaluated_at: instant('evaluated_at').notNull(),
});
