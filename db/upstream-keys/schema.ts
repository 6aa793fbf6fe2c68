/** The keys of organizations for their own accounts at providers ("own keys", access channel `byok`). */
import { sql } from 'drizzle-orm';
import { boolean, check, index, integer, jsonb, pgTable, text } from 'drizzle-orm/pg-core';
import { instant } from '../columns.ts';
import { organization } from '../schema.ts';

/** Why a provider refused an own key. Only its organization sees it. */
export interface KeyRefusal {
  /** When, ISO 8601. */
  readonly at: string;
  /** The public model of the call. */
  readonly model: string;
  /** What the provider said, without the key. */
  readonly message: string;
}

/** One own key. Its calls take the channel id `own:` + its id. */
export const upstreamKey = pgTable(
  'upstream_key',
  {
    id: text('id').primaryKey(),
    organization_id: text('organization_id')
      .notNull()
      .references(() => organization.id),
    name: text('name').notNull(),
    protocol: text('protocol').notNull(),
    base_url: text('base_url').notNull(),
    dialect: text('dialect'),
    api_version: text('api_version'),
    /** The key, encrypted (src/config/own-key-rows.ts); '' after it was revoked. */
    sealed_key: text('sealed_key').notNull(),
    /** False if the provider answered without looking at the key, as far as Weir can tell. */
    key_tested: boolean('key_tested').notNull(),
    /** Public model id → physical model id. */
    models: jsonb('models').$type<Readonly<Record<string, string>>>().notNull(),
    priority: integer('priority').notNull(),
    last_refusal: jsonb('last_refusal').$type<KeyRefusal>(),
    created_at: instant('created_at').notNull().default(sql`weir_now()`),
    /** When the key was set: at its creation, or at its last rotation. */
    rotated_at: instant('rotated_at').notNull().default(sql`weir_now()`),
    /** A revoked key is never used again, and its row stays for the records of its calls. */
    revoked_at: instant('revoked_at'),
  },
  (table) => [
    index('upstream_key_by_organization').on(table.organization_id, table.created_at, table.id),
    check(
      'upstream_key_is_gone_when_revoked',
      sql`(${table.revoked_at} is null) = (${table.sealed_key} <> '')`,
    ),
  ],
);
