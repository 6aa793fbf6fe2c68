/** Webhook secrets, and the webhooks that announce the end of a task. */
import { sql } from 'drizzle-orm';
import { check, index, integer, pgTable, text } from 'drizzle-orm/pg-core';
import { instant } from '../columns.ts';
import { organization } from '../schema.ts';
import { task } from '../tasks/schema.ts';

/** The secret that signs an organization's webhooks (Standard Webhooks), encrypted. */
export const webhookSecret = pgTable('webhook_secret', {
  organization_id: text('organization_id')
    .primaryKey()
    .references(() => organization.id),
  sealed: text('sealed').notNull(),
  created_at: instant('created_at').notNull().default(sql`now()`),
});

/**
 * One webhook. Its id is the id of its task. The row is written in the transaction of each
 * transition of the webhook's machine.
 */
export const webhookDelivery = pgTable(
  'webhook_delivery',
  {
    task_id: text('task_id')
      .primaryKey()
      .references(() => task.id),
    organization_id: text('organization_id')
      .notNull()
      .references(() => organization.id),
    url: text('url').notNull(),
    status: text('status', { enum: ['pending', 'delivered', 'failed'] })
      .notNull()
      .default('pending'),
    attempts: integer('attempts').notNull().default(0),
    /** The HTTP status of the last attempt; 0 = the receiver sent no response. */
    last_status: integer('last_status'),
    /**
     * How often the organization requested to send the webhook again. Each request has an actor of
     * its own (`deliveryActor`).
     */
    redeliveries: integer('redeliveries').notNull().default(0),
    /** The attempts of the actors before the present one. `attempts` includes them. */
    earlier_attempts: integer('earlier_attempts').notNull().default(0),
    created_at: instant('created_at').notNull().default(sql`now()`),
    ended_at: instant('ended_at'),
  },
  (table) => [
    index('webhook_delivery_by_organization').on(
      table.organization_id,
      table.created_at,
      table.task_id,
    ),
    index('webhook_delivery_by_status').on(
      table.organization_id,
      table.status,
      table.created_at,
      table.task_id,
    ),
    check('webhook_attempts_never_negative', sql`${table.attempts} >= 0`),
  ],
);
