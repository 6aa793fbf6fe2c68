/** Debug windows: the only place where prompts and answers of calls are stored, and who did what. */
import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  customType,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  uuid,
} from 'drizzle-orm/pg-core';
import { instant } from '../columns.ts';

const bytes = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' });
const int8 = (name: string) => bigint(name, { mode: 'number' });

/** A span of time in which the calls of an organization, or of one key, are copied. */
export const debugWindow = pgTable(
  'debug_window',
  {
    id: text('id').primaryKey(),
    organization_id: text('organization_id').notNull(),
    /** null = all keys of the organization. */
    key_id: text('key_id'),
    /** The most bytes of all copies, and of one body. */
    max_bytes: int8('max_bytes').notNull(),
    max_body_bytes: integer('max_body_bytes').notNull(),
    /** How long the copies are kept after the end of the window. */
    keep_hours: integer('keep_hours').notNull(),
    stored_calls: integer('stored_calls').notNull().default(0),
    stored_bytes: int8('stored_bytes').notNull().default(0),
    opened_at: instant('opened_at').notNull(),
    /** When the window ends by itself. */
    closes_at: instant('closes_at').notNull(),
    /** Set if the window was closed before `closes_at`. */
    closed_at: instant('closed_at'),
    /** True if the window was closed because a call did not fit any more. */
    is_full: boolean('is_full').notNull().default(false),
    /** After this time nobody can read the copies, and they are deleted. */
    keep_until: instant('keep_until').notNull(),
  },
  (table) => [
    index('debug_window_by_organization').on(table.organization_id, table.opened_at, table.id),
    index('open_debug_windows').on(table.closes_at).where(sql`closed_at is null`),
    index('debug_window_by_age').on(table.keep_until),
    check('debug_window_in_bytes', sql`${table.stored_bytes} between 0 and ${table.max_bytes}`),
  ],
);

/** The request and the answer of one call, encrypted. */
export const debugCopy = pgTable(
  'debug_copy',
  {
    organization_id: text('organization_id').notNull(),
    request_id: uuid('request_id').notNull(),
    window_id: text('window_id').notNull(),
    key_id: text('key_id').notNull(),
    /** The path without its query, because a query may have a credential. */
    path: text('path').notNull(),
    request_type: text('request_type'),
    /** The first bytes of the body, encrypted. */
    request_body: bytes('request_body').notNull(),
    /** The size of the whole body. */
    request_bytes: int8('request_bytes').notNull(),
    status: integer('status').notNull(),
    answer_type: text('answer_type'),
    answer_body: bytes('answer_body').notNull(),
    answer_bytes: int8('answer_bytes').notNull(),
    at: instant('at').notNull().default(sql`weir_now()`),
  },
  (table) => [
    primaryKey({ columns: [table.organization_id, table.request_id] }),
    index('debug_copy_by_window').on(table.window_id),
  ],
);

/**
 * Who opened and closed windows, and who read which copy. The migration adds a trigger that refuses
 * every change of a row.
 */
export const debugEvent = pgTable(
  'debug_event',
  {
    id: text('id').primaryKey(),
    organization_id: text('organization_id').notNull(),
    window_id: text('window_id').notNull(),
    action: text('action', { enum: ['opened', 'closed', 'filled', 'read'] }).notNull(),
    /** The management token; null if Weir closed a full window. */
    token_id: text('token_id'),
    /** The call whose copy was read. */
    request_id: uuid('request_id'),
    at: instant('at').notNull().default(sql`weir_now()`),
  },
  (table) => [index('debug_event_by_organization').on(table.organization_id, table.at, table.id)],
);
