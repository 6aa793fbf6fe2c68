/** The log of every change. Rows are never changed, and each has the hash of the row before. */
import { sql } from 'drizzle-orm';
import { bigint, index, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { instant } from '../columns.ts';

export const auditLog = pgTable(
  'audit_log',
  {
    /** '' = the log of the installation. */
    organization_id: text('organization_id').notNull(),
    /** From 1 on, without gaps in one organization. */
    seq: bigint('seq', { mode: 'number' }).notNull(),
    at: instant('at').notNull(),
    actor_kind: text('actor_kind', { enum: ['token', 'person', 'operator', 'system'] }).notNull(),
    actor_id: text('actor_id').notNull(),
    actor_label: text('actor_label').notNull(),
    credential_id: text('credential_id'),
    address: text('address').notNull(),
    request_id: text('request_id'),
    action: text('action').notNull(),
    subject_id: text('subject_id').notNull(),
    before: jsonb('before'),
    after: jsonb('after'),
    previous_hash: text('previous_hash').notNull(),
    hash: text('hash').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.organization_id, table.seq] }),
    index('audit_log_by_subject').on(table.organization_id, table.subject_id, table.seq),
    index('audit_log_by_actor').on(table.organization_id, table.actor_id, table.seq),
    index('audit_log_by_time').on(table.organization_id, table.at, table.seq),
  ],
);

/** The last line of each log. So it is noticed too if the last lines are missing. */
export const auditHead = pgTable('audit_head', {
  /** '' = the log of the installation. */
  organization_id: text('organization_id').primaryKey(),
  seq: bigint('seq', { mode: 'number' }).notNull().default(0),
  hash: text('hash').notNull().default(''),
  at: instant('at').notNull().default(sql`to_timestamp(0)`),
});
