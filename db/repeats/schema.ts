/** Answers of calls with an `Idempotency-Key` (P7). */
import { sql } from 'drizzle-orm';
import {
  boolean,
  check,
  customType,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uuid,
} from 'drizzle-orm/pg-core';
import { instant } from '../columns.ts';

const bytes = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' });

/**
 * One call with an `Idempotency-Key`. The row is inserted before money is reserved, so that only
 * one of the repeats runs. If the call charged nothing, the row is deleted. The table has no
 * foreign keys, because each insert would lock the rows of the key and the organization, which the
 * ledger updates.
 */
export const keptAnswer = pgTable(
  'kept_answer',
  {
    key_id: text('key_id').notNull(),
    /** The route; the same idempotency key on another route is another call. */
    route: text('route').notNull(),
    /** SHA-256 of the header's value, hex. */
    repeat_hash: text('repeat_hash').notNull(),
    organization_id: text('organization_id').notNull(),
    /** SHA-256 of path and body, hex. The same key with another request is refused. */
    request_hash: text('request_hash').notNull(),
    /** Id of the first request. A usage line with this id shows that the call was charged. */
    request_id: uuid('request_id').notNull(),
    /** The replica that runs the call. If it is dead, the outcome of a running call is unknown. */
    replica_id: text('replica_id').notNull(),
    state: text('state', { enum: ['running', 'kept', 'dropped'] })
      .notNull()
      .default('running'),
    /** Why a charged answer has no body: too large, no room left, or switched off. */
    dropped_because: text('dropped_because', { enum: ['too_large', 'no_room', 'switched_off'] }),
    /** HTTP status of the answer. */
    status: integer('status'),
    headers: jsonb('headers'),
    /** The body, encrypted. */
    body: bytes('body'),
    /** Size of `body`; 0 without one. */
    body_bytes: integer('body_bytes').notNull().default(0),
    /** True if the answer broke off. A repeat breaks off at the same byte. */
    is_broken: boolean('is_broken').notNull().default(false),
    created_at: instant('created_at').notNull().default(sql`weir_now()`),
    expires_at: instant('expires_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.key_id, table.route, table.repeat_hash] }),
    index('kept_answer_by_expiry').on(table.expires_at),
    index('kept_bodies_by_organization')
      .on(table.organization_id, table.created_at)
      .where(sql`state = 'kept'`),
    check(
      'only_a_kept_answer_has_a_body',
      sql`(${table.state} = 'kept') = (${table.body} is not null)`,
    ),
    check(
      'a_dropped_answer_says_why',
      sql`(${table.state} = 'dropped') = (${table.dropped_because} is not null)`,
    ),
    check(
      'a_kept_answer_has_a_status',
      sql`${table.state} <> 'kept' or ${table.status} is not null`,
    ),
  ],
);

/**
 * The answer of one change with an `Idempotency-Key`, e.g. of the creation of a key. The row is written in
 * the transaction of the change. So there is no change without its row, and two equal requests wait for
 * each other.
 */
export const keptChange = pgTable(
  'kept_change',
  {
    /** The organization that was changed; '' = the installation. */
    organization_id: text('organization_id').notNull(),
    /** The token or the person that sent the request. Nobody else gets the answer. */
    actor_id: text('actor_id').notNull(),
    /** Method and path of the route. */
    route: text('route').notNull(),
    /** SHA-256 of the header's value, hex. */
    repeat_hash: text('repeat_hash').notNull(),
    /** SHA-256 of path and body, hex. The same key with another request is refused. */
    request_hash: text('request_hash').notNull(),
    /** The answer, encrypted, because it may have a secret. Empty until the change is made. */
    answer: bytes('answer').notNull(),
    expires_at: instant('expires_at').notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.organization_id, table.actor_id, table.route, table.repeat_hash],
    }),
    index('kept_change_by_expiry').on(table.expires_at),
  ],
);
