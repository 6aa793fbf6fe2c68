/**
 * People: who they are, how they sign in, and what they may do. The library of docs/decisions/sign-in.md
 * reads and writes the first four tables; Weir alone writes the others.
 */
import { sql } from 'drizzle-orm';
import {
  boolean,
  check,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { instant } from '../columns.ts';
import { organization } from '../schema.ts';

const createdAt = () => instant('created_at').notNull().default(sql`weir_now()`);
const updatedAt = () => instant('updated_at').notNull().default(sql`weir_now()`);

/** A person who can sign in. */
export const person = pgTable(
  'person',
  {
    id: text('id').primaryKey(),
    name: text('name').notNull(),
    /** In lower case. */
    email: text('email').notNull(),
    /** True if a mail to this address, or the identity provider, proved that the person reads it. */
    email_verified: boolean('email_verified').notNull().default(false),
    /** Always null. The library needs the column. */
    image: text('image'),
    created_at: createdAt(),
    updated_at: updatedAt(),
  },
  (table) => [
    uniqueIndex('person_by_email').on(table.email),
    check('person_email_is_in_lower_case', sql`${table.email} = lower(${table.email})`),
  ],
);

/** A sign-in that has not ended. The cookie has the token and a signature that is not stored. */
export const personSession = pgTable(
  'person_session',
  {
    id: text('id').primaryKey(),
    token: text('token').notNull(),
    person_id: text('person_id')
      .notNull()
      .references(() => person.id, { onDelete: 'cascade' }),
    expires_at: instant('expires_at').notNull(),
    ip_address: text('ip_address'),
    user_agent: text('user_agent'),
    created_at: createdAt(),
    updated_at: updatedAt(),
  },
  (table) => [
    uniqueIndex('person_session_by_token').on(table.token),
    index('person_session_by_person').on(table.person_id),
    index('person_session_by_end').on(table.expires_at),
  ],
);

/** One way in which a person signs in: a password (`credential`), or an identity provider (`oidc`). */
export const personAccount = pgTable(
  'person_account',
  {
    id: text('id').primaryKey(),
    account_id: text('account_id').notNull(),
    provider_id: text('provider_id').notNull(),
    person_id: text('person_id')
      .notNull()
      .references(() => person.id, { onDelete: 'cascade' }),
    /** The tokens of the identity provider are not kept, so these six columns are null. */
    access_token: text('access_token'),
    refresh_token: text('refresh_token'),
    id_token: text('id_token'),
    access_token_expires_at: instant('access_token_expires_at'),
    refresh_token_expires_at: instant('refresh_token_expires_at'),
    scope: text('scope'),
    /** The hash of the password (scrypt). */
    password: text('password'),
    created_at: createdAt(),
    updated_at: updatedAt(),
  },
  (table) => [
    uniqueIndex('person_account_by_provider').on(table.provider_id, table.account_id),
    index('person_account_by_person').on(table.person_id),
  ],
);

/** A sign-in at the identity provider that has begun. */
export const signInState = pgTable(
  'sign_in_state',
  {
    id: text('id').primaryKey(),
    identifier: text('identifier').notNull(),
    value: text('value').notNull(),
    expires_at: instant('expires_at').notNull(),
    created_at: createdAt(),
    updated_at: updatedAt(),
  },
  (table) => [
    index('sign_in_state_by_identifier').on(table.identifier),
    index('sign_in_state_by_end').on(table.expires_at),
  ],
);

/** The role of a person in an organization. */
export const membership = pgTable(
  'membership',
  {
    organization_id: text('organization_id')
      .notNull()
      .references(() => organization.id),
    person_id: text('person_id')
      .notNull()
      .references(() => person.id),
    role: text('role', { enum: ['owner', 'admin', 'member', 'viewer'] }).notNull(),
    created_at: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.organization_id, table.person_id] }),
    index('membership_by_person').on(table.person_id),
  ],
);

/** The people who operate the installation. */
export const operatorPerson = pgTable('operator_person', {
  person_id: text('person_id')
    .primaryKey()
    .references(() => person.id),
  created_at: createdAt(),
});

/**
 * A link that works once: an invitation, or one that sets a new password. Only the hash of its secret
 * is stored.
 */
export const oneTimeLink = pgTable(
  'one_time_link',
  {
    id: text('id').primaryKey(),
    kind: text('kind', { enum: ['invitation', 'operator', 'password'] }).notNull(),
    secret_hash: text('secret_hash').notNull(),
    /** Whom the link is for; null for the link of the first operator, who chooses the address. */
    email: text('email'),
    /** True if the link was sent to the address, so that whoever uses it reads that address. */
    is_mailed: boolean('is_mailed').notNull(),
    /** With `invitation`: the organization, and the role there. */
    organization_id: text('organization_id').references(() => organization.id),
    role: text('role', { enum: ['owner', 'admin', 'member', 'viewer'] }),
    /** With `password`: whose password. */
    person_id: text('person_id').references(() => person.id),
    /** The id of the token or of the person that made the link; null for Weir itself. */
    created_by: text('created_by'),
    created_at: createdAt(),
    expires_at: instant('expires_at').notNull(),
    used_at: instant('used_at'),
    revoked_at: instant('revoked_at'),
  },
  (table) => [
    uniqueIndex('one_time_link_by_secret').on(table.secret_hash),
    index('one_time_link_by_organization').on(table.organization_id, table.created_at, table.id),
    index('one_time_link_by_email').on(table.email),
    index('one_time_link_by_end').on(table.expires_at),
    check(
      'invitation_has_an_organization_and_a_role',
      sql`(${table.kind} = 'invitation') = (${table.organization_id} is not null)
        and (${table.kind} = 'invitation') = (${table.role} is not null)`,
    ),
    check(
      'password_link_has_a_person',
      sql`(${table.kind} = 'password') = (${table.person_id} is not null)`,
    ),
  ],
);

/** Attempts to sign in that did not succeed, and mails that were asked for, of one address. */
export const signInAttempt = pgTable(
  'sign_in_attempt',
  {
    /** SHA-256 of what is counted, so that the table does not list addresses of strangers. */
    subject: text('subject').primaryKey(),
    count: integer('count').notNull(),
    /** When the count begins again. */
    ends_at: instant('ends_at').notNull(),
  },
  (table) => [index('sign_in_attempt_by_end').on(table.ends_at)],
);
