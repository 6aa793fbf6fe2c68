/**
 * The tables of Weir. Only PostgreSQL has the authoritative state of money and of durable actors
 * (docs/consistency.md).
 *
 * Amounts are integers in nano-USD (`int8`). Every invariant of a single row is a CHECK here. The
 * machines enforce the same invariants.
 */
import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  date,
  index,
  integer,
  jsonb,
  pgSequence,
  pgTable,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { instant } from './columns.ts';
import type { WhenReached } from './when-reached.ts';

/** A limit of a key (`src/inference/limits/limit.ts`). */
interface StoredLimit {
  readonly model: string | null;
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly concurrent_calls: number | null;
  readonly when_reached?: WhenReached;
}

/** An amount of money or a counter: `int8` in the database, an exact JS number outside. */
const int8 = (name: string) => bigint(name, { mode: 'number' });
const createdAt = () => instant('created_at').notNull().default(sql`now()`);

/** The payer of calls. `deposited = balance + held + settled` at every commit (P1). */
export const organization = pgTable(
  'organization',
  {
    id: text('id').primaryKey(),
    name: text('name').notNull(),
    /** The rate-limit role: `trial`, `standard`, `enterprise` or a role of `weir.yaml`. */
    role: text('role').notNull().default('standard'),
    deposited_nano_usd: int8('deposited_nano_usd').notNull().default(0),
    balance_nano_usd: int8('balance_nano_usd').notNull().default(0),
    /**
     * Money set aside in open grants and open holds. A grant counts with its granted amount minus
     * its posted charges.
     */
    held_nano_usd: int8('held_nano_usd').notNull().default(0),
    settled_nano_usd: int8('settled_nano_usd').notNull().default(0),
    /** True if answers of calls with an `Idempotency-Key` are kept for their repeats. */
    keep_answers: boolean('keep_answers').notNull().default(true),
    /** Whose calls get an answer of the cache: those of all keys, or only those of the key that asked. */
    cache_scope: text('cache_scope', { enum: ['organization', 'key'] })
      .notNull()
      .default('organization'),
    /** A model that an own key serves runs on own keys only, or first; then on the platform's channels. */
    own_keys: text('own_keys', { enum: ['only', 'first'] })
      .notNull()
      .default('only'),
    /** The name of the time zone in which days begin (IANA), e.g. `Europe/Berlin`. */
    time_zone: text('time_zone').notNull().default('UTC'),
    /** True if the organization has a budget. Otherwise the ledger reads none. */
    has_budgets: boolean('has_budgets').notNull().default(false),
    /** Calls of an organization that is not active are refused. Nothing of it is deleted. */
    status: text('status', { enum: ['active', 'suspended', 'closed'] })
      .notNull()
      .default('active'),
    /** Why an operator changed the status, as the organization sees it. */
    status_reason: text('status_reason').notNull().default(''),
    status_changed_at: instant('status_changed_at'),
    /** The most API keys, unless it is null or above the limit of every organization. */
    max_keys: integer('max_keys'),
    /** The organization's limit of requests per minute; null = that of its role. */
    requests_per_minute: integer('requests_per_minute'),
    /** The credit line, and the part of the deposits that is credit. */
    credit_limit_nano_usd: int8('credit_limit_nano_usd').notNull().default(0),
    credit_nano_usd: int8('credit_nano_usd').notNull().default(0),
    created_at: createdAt(),
  },
  (table) => [
    index('organization_by_time').on(table.created_at, table.id),
    check('organization_credit_never_negative', sql`${table.credit_nano_usd} >= 0`),
    check(
      'organization_credit_above_its_line_is_spent',
      sql`${table.credit_nano_usd} <= ${table.credit_limit_nano_usd} or ${table.balance_nano_usd} = 0`,
    ),
    check('organization_balance_never_negative', sql`${table.balance_nano_usd} >= 0`),
    check('organization_held_never_negative', sql`${table.held_nano_usd} >= 0`),
    check(
      'organization_money_is_conserved',
      sql`${table.deposited_nano_usd} = ${table.balance_nano_usd} + ${table.held_nano_usd} + ${table.settled_nano_usd}`,
    ),
  ],
);

/**
 * Money added to an organization, or credit taken back. The sum of an organization's rows is its
 * `deposited_nano_usd`.
 */
export const deposit = pgTable(
  'deposit',
  {
    id: uuid('id').primaryKey(),
    organization_id: text('organization_id')
      .notNull()
      .references(() => organization.id),
    kind: text('kind', { enum: ['payment', 'credit', 'credit_return'] })
      .notNull()
      .default('payment'),
    /** Negative for credit that was taken back. */
    amount_nano_usd: int8('amount_nano_usd').notNull(),
    /** The payer's name of a payment, so that it is booked once. */
    reference: text('reference'),
    note: text('note').notNull().default(''),
    created_at: createdAt(),
  },
  (table) => [
    check(
      'only_returned_credit_is_negative',
      sql`${table.amount_nano_usd} <> 0 and (${table.amount_nano_usd} < 0) = (${table.kind} = 'credit_return')`,
    ),
    uniqueIndex('deposit_by_reference').on(table.organization_id, table.reference),
    index('deposit_by_organization').on(table.organization_id, table.created_at),
  ],
);

/** An `sk-` key. Only its hash is stored. */
export const apiKey = pgTable(
  'api_key',
  {
    id: text('id').primaryKey(),
    organization_id: text('organization_id')
      .notNull()
      .references(() => organization.id),
    name: text('name').notNull(),
    /** SHA-256 of the full key, hex. Keys are random 256-bit secrets, so no slow hash is needed. */
    key_hash: text('key_hash').notNull(),
    key_prefix: text('key_prefix').notNull(),
    /** The hash before the last rotation; null if the key was never rotated. */
    previous_key_hash: text('previous_key_hash'),
    /** Until then the previous secret is valid too. */
    previous_until: instant('previous_until'),
    status: text('status', { enum: ['active', 'inactive', 'suspended', 'revoked'] })
      .notNull()
      .default('active'),
    /** The cap that the organization set; null = unlimited. */
    limit_nano_usd: int8('limit_nano_usd'),
    /**
     * The cap that the CHECK enforces; null = unlimited. It is the limit, or the used and held
     * money if that is more. Each return of held money lowers the ceiling, until it equals the
     * limit.
     */
    ceiling_nano_usd: int8('ceiling_nano_usd'),
    /** What the cap counts of a call on an own key: its charge (the fee), or its list price. */
    cap_counts: text('cap_counts', { enum: ['charged', 'list'] })
      .notNull()
      .default('charged'),
    /** What the cap counts, as far as it is posted: charges, and `uncharged_nano_usd`. */
    used_nano_usd: int8('used_nano_usd').notNull().default(0),
    /** The part of the used money that was counted, and not charged. */
    uncharged_nano_usd: int8('uncharged_nano_usd').notNull().default(0),
    held_nano_usd: int8('held_nano_usd').notNull().default(0),
    models: text('models').array().notNull().default(sql`'{}'`),
    /** The words by which the organization groups its keys. */
    tags: text('tags').array().notNull().default(sql`'{}'`),
    /** Tags of each call with the key. A client cannot change them. */
    call_tags: jsonb('call_tags').$type<Readonly<Record<string, string>>>().notNull().default({}),
    /** The id that the organization's own software has for the key. */
    external_id: text('external_id'),
    /**
     * The key's own limit of requests per minute. The limit of the role applies too. null = only
     * the limit of the role.
     */
    requests_per_minute: integer('requests_per_minute'),
    /** Requests and tokens per minute and calls at the same time, of one model each or of all. */
    limits: jsonb('limits').$type<readonly StoredLimit[]>().notNull().default([]),
    /** The time for a whole call if the client sets none, ms; null = no limit. */
    timeout_ms: integer('timeout_ms'),
    /** `response_format` of image calls that send none; null = `url`. */
    image_response_format: text('image_response_format').$type<'url' | 'b64_json'>(),
    expires_at: instant('expires_at'),
    /** A deleted key is revoked and in no list. Its row stays, because charges refer to it. */
    deleted_at: instant('deleted_at'),
    created_at: createdAt(),
  },
  (table) => [
    uniqueIndex('api_key_by_hash').on(table.key_hash),
    uniqueIndex('api_key_by_previous_hash').on(table.previous_key_hash),
    check(
      'previous_secret_has_an_end',
      sql`(${table.previous_key_hash} is null) = (${table.previous_until} is null)`,
    ),
    index('api_key_by_organization').on(table.organization_id, table.created_at),
    uniqueIndex('api_key_by_external_id')
      .on(table.organization_id, table.external_id)
      .where(sql`deleted_at is null`),
    check(
      'deleted_key_is_revoked',
      sql`${table.deleted_at} is null or ${table.status} = 'revoked'`,
    ),
    check('api_key_used_never_negative', sql`${table.used_nano_usd} >= 0`),
    check('api_key_timeout_in_bounds', sql`${table.timeout_ms} between 1000 and 3600000`),
    check(
      'api_key_image_response_format',
      sql`${table.image_response_format} in ('url', 'b64_json')`,
    ),
    check('api_key_held_never_negative', sql`${table.held_nano_usd} >= 0`),
    check(
      'api_key_never_over_its_cap',
      sql`${table.used_nano_usd} + ${table.held_nano_usd} <= ${table.ceiling_nano_usd}`,
    ),
  ],
);

/**
 * Management tokens (`mt-`) belong to one organization. Operator tokens (`op-`) belong to the
 * installation.
 */
export const accessToken = pgTable(
  'access_token',
  {
    id: text('id').primaryKey(),
    kind: text('kind', { enum: ['management', 'operator'] }).notNull(),
    organization_id: text('organization_id').references(() => organization.id),
    name: text('name').notNull().default(''),
    /** What the token may do (src/access/actions.ts). */
    scopes: text('scopes').array().notNull().default(sql`'{admin}'`),
    token_hash: text('token_hash').notNull(),
    token_prefix: text('token_prefix').notNull(),
    /** The id of the token or of the person that created it; null for the first run. */
    created_by: text('created_by'),
    /** The token that this one replaced when it was rotated. */
    replaces: text('replaces'),
    expires_at: instant('expires_at'),
    last_used_at: instant('last_used_at'),
    /** From then on the token is not valid. It may lie ahead, if a rotation leaves some time. */
    revoked_at: instant('revoked_at'),
    created_at: createdAt(),
  },
  (table) => [
    uniqueIndex('access_token_by_hash').on(table.token_hash),
    index('access_token_by_organization').on(table.organization_id, table.created_at, table.id),
    check(
      'management_token_has_an_organization',
      sql`(${table.kind} = 'management') = (${table.organization_id} is not null)`,
    ),
  ],
);

/**
 * One run of one Weir process. It keeps its grants, tasks and timers while it renews its lease. A
 * dead replica stays dead; if its process still runs, the process registers under a new id.
 */
export const replica = pgTable(
  'replica',
  {
    id: text('id').primaryKey(),
    status: text('status', { enum: ['alive', 'dead'] })
      .notNull()
      .default('alive'),
    lease_until: instant('lease_until').notNull(),
    created_at: createdAt(),
  },
  (table) => [index('replica_by_lease').on(table.status, table.lease_until)],
);

/**
 * Numbers the recalls, which request the replicas to return unused money of their grants. A grant
 * stores the number of the last recall that it acknowledged.
 */
export const recallSeq = pgSequence('recall_seq');

/**
 * Money of a key and its organization that is set aside for one replica. A settlement changes only
 * this row. When another command locks the rows of the key and the organization later, the charges
 * are posted, i.e. added to those rows.
 */
export const quotaGrant = pgTable(
  'quota_grant',
  {
    id: uuid('id').primaryKey(),
    key_id: text('key_id')
      .notNull()
      .references(() => apiKey.id),
    organization_id: text('organization_id')
      .notNull()
      .references(() => organization.id),
    replica_id: text('replica_id')
      .notNull()
      .references(() => replica.id),
    status: text('status', { enum: ['open', 'closed'] })
      .notNull()
      .default('open'),
    granted_nano_usd: int8('granted_nano_usd').notNull().default(0),
    settled_nano_usd: int8('settled_nano_usd').notNull().default(0),
    posted_nano_usd: int8('posted_nano_usd').notNull().default(0),
    /** The part of `settled` and of `posted` that is counted by the key's cap, and not charged. */
    uncharged_nano_usd: int8('uncharged_nano_usd').notNull().default(0),
    uncharged_posted_nano_usd: int8('uncharged_posted_nano_usd').notNull().default(0),
    recall_acked: int8('recall_acked').notNull().default(0),
    /** The day of the organization when the grant was opened: budgets of that day count it. */
    day: date('day', { mode: 'string' }),
    /** The tags of its calls that had a budget when it was opened: budgets of these tags count it. Null: none. */
    tags: jsonb('tags').$type<Readonly<Record<string, string>>>(),
    created_at: createdAt(),
    closed_at: instant('closed_at'),
  },
  (table) => [
    // While calls of yesterday run, a key has one open grant for each of the two days.
    index('open_grants_of_key').on(table.key_id, table.replica_id).where(sql`status = 'open'`),
    index('grants_by_day').on(table.organization_id, table.day),
    index('open_grants_of_replica').on(table.replica_id).where(sql`status = 'open'`),
    check('grant_posted_never_negative', sql`${table.posted_nano_usd} >= 0`),
    check(
      'grant_posts_only_what_it_settled',
      sql`${table.posted_nano_usd} <= ${table.settled_nano_usd}`,
    ),
    check(
      'grant_settles_only_what_was_granted',
      sql`${table.settled_nano_usd} <= ${table.granted_nano_usd}`,
    ),
    check(
      'closed_grant_holds_nothing',
      sql`${table.status} = 'open' or (${table.granted_nano_usd} = ${table.settled_nano_usd} and ${table.settled_nano_usd} = ${table.posted_nano_usd})`,
    ),
  ],
);

/** Money set aside for work that can outlive a process, for example a task. */
export const hold = pgTable(
  'hold',
  {
    id: uuid('id').primaryKey(),
    key_id: text('key_id')
      .notNull()
      .references(() => apiKey.id),
    organization_id: text('organization_id')
      .notNull()
      .references(() => organization.id),
    status: text('status', { enum: ['held', 'settled', 'released', 'expired'] })
      .notNull()
      .default('held'),
    amount_nano_usd: int8('amount_nano_usd').notNull(),
    charged_nano_usd: int8('charged_nano_usd').notNull().default(0),
    /** What the key's cap counts of a settled hold beyond its charge. */
    uncharged_nano_usd: int8('uncharged_nano_usd').notNull().default(0),
    /** The purpose of the hold, for example a task id. */
    reference: text('reference').notNull(),
    /** The day of the organization when the hold was made: budgets of that day count it. */
    day: date('day', { mode: 'string' }),
    /** As those of a grant. */
    tags: jsonb('tags').$type<Readonly<Record<string, string>>>(),
    expires_at: instant('expires_at').notNull(),
    created_at: createdAt(),
    resolved_at: instant('resolved_at'),
  },
  (table) => [
    index('open_holds_by_expiry').on(table.expires_at).where(sql`status = 'held'`),
    index('open_holds_of_key').on(table.key_id).where(sql`status = 'held'`),
    index('holds_by_day').on(table.organization_id, table.day),
    check('hold_is_positive', sql`${table.amount_nano_usd} >= 0`),
    check(
      'hold_charges_only_what_it_held',
      sql`${table.charged_nano_usd} between 0 and ${table.amount_nano_usd}`,
    ),
    check(
      'only_a_settled_hold_charges',
      sql`${table.status} = 'settled' or ${table.charged_nano_usd} = 0`,
    ),
  ],
);
