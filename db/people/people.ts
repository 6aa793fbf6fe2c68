import type { Sql, TransactionSql } from '../client.ts';
import {
  type Page,
  type PageRequest,
  pageBounds,
  pageOf,
  pageOrder,
  positionOf,
} from '../pages.ts';

const SORT = { at: 'created_at', id: 'id' };

/** The name of sign-ins by password among the accounts of a person. The library chose it. */
const PASSWORD_PROVIDER = 'credential';

/** A person who can sign in. */
export interface PersonRow {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly email_verified: boolean;
  readonly is_operator: boolean;
  readonly created_at: Date;
  readonly at_us: number;
}

/** The columns of a `PersonRow`. */
export const personColumns = (sql: Sql | TransactionSql) => sql`
  id, name, email, email_verified, created_at, ${positionOf(sql, SORT.at)} as at_us,
  exists (select from operator_person where person_id = person.id) as is_operator`;

/** Returns a page of all people, the newest first; with `is_operator`, of the operators. */
export async function listPeople(
  sql: Sql,
  is_operator: boolean,
  page: PageRequest,
): Promise<Page<PersonRow>> {
  const rows = await sql<PersonRow[]>`
    select ${personColumns(sql)} from person
    where ${is_operator ? sql`id in (select person_id from operator_person)` : sql`true`}
      ${pageBounds(sql, page, SORT)}
    ${pageOrder(sql, page, SORT)}`;
  return pageOf(rows, page);
}

/** Returns a person; undefined if there is none with this id. */
export async function findPerson(
  sql: Sql | TransactionSql,
  id: string,
): Promise<PersonRow | undefined> {
  const [row] = await sql<PersonRow[]>`select ${personColumns(sql)} from person where id = ${id}`;
  return row;
}

/** Returns the person with an address in lower case; undefined if there is none. */
export async function findPersonByEmail(
  sql: Sql | TransactionSql,
  email: string,
): Promise<PersonRow | undefined> {
  const [row] = await sql<
    PersonRow[]
  >`select ${personColumns(sql)} from person where email = ${email}`;
  return row;
}

/** Stores a person with a password. Returns false if the address belongs to somebody already. */
export async function insertPerson(
  tx: TransactionSql,
  person: Pick<PersonRow, 'id' | 'name' | 'email' | 'email_verified'>,
  account: { readonly id: string; readonly password_hash: string },
): Promise<boolean> {
  const { count } = await tx`
    insert into person (id, name, email, email_verified)
    values (${person.id}, ${person.name}, ${person.email}, ${person.email_verified})
    on conflict (email) do nothing`;
  if (count > 0) await storePassword(tx, person.id, account);
  return count > 0;
}

/** Stores the password of a person, in place of an earlier one. */
export async function storePassword(
  tx: TransactionSql,
  person_id: string,
  { id, password_hash }: { readonly id: string; readonly password_hash: string },
): Promise<void> {
  await tx`
    insert into person_account (id, account_id, provider_id, person_id, password)
    values (${id}, ${person_id}, ${PASSWORD_PROVIDER}, ${person_id}, ${password_hash})
    on conflict (provider_id, account_id) do update
    set password = excluded.password, updated_at = weir_now()`;
}

/** True if a person has an account of a provider. */
export async function hasAccount(
  sql: Sql,
  person_id: string,
  provider_id: string,
): Promise<boolean> {
  const rows = await sql`
    select from person_account
    where person_id = ${person_id} and provider_id = ${provider_id} limit 1`;
  return rows.length > 0;
}

/** Returns the hash of the password of a person; undefined if the person has none. */
export async function readPasswordHash(sql: Sql, person_id: string): Promise<string | undefined> {
  const [row] = await sql<{ password: string | null }[]>`
    select password from person_account
    where person_id = ${person_id} and provider_id = ${PASSWORD_PROVIDER}`;
  return row?.password ?? undefined;
}

/** Notes that a person reads the mails to the address. */
export async function markEmailVerified(tx: TransactionSql, id: string): Promise<void> {
  await tx`update person set email_verified = true where id = ${id}`;
}

/**
 * Ends the sessions of a person, except one that is named. Every replica reads sessions from the
 * database, so they end at once everywhere. Returns their number.
 */
export async function endSessions(
  tx: TransactionSql,
  person_id: string,
  except_session_id = '',
): Promise<number> {
  const { count } = await tx`
    delete from person_session where person_id = ${person_id} and id <> ${except_session_id}`;
  return count;
}

/** Ends one session. Returns false if it had ended already. */
export async function endSession(tx: TransactionSql, session_id: string): Promise<boolean> {
  const { count } = await tx`delete from person_session where id = ${session_id}`;
  return count > 0;
}

/** Makes a person an operator. Returns false if the person is one already. */
export async function addOperator(tx: TransactionSql, person_id: string): Promise<boolean> {
  const { count } = await tx`
    insert into operator_person (person_id) values (${person_id}) on conflict do nothing`;
  return count > 0;
}

/** Takes the rights of an operator from a person. */
export async function removeOperator(tx: TransactionSql, person_id: string): Promise<void> {
  await tx`delete from operator_person where person_id = ${person_id}`;
}

/** Returns the number of operators. */
export async function countOperators(sql: Sql | TransactionSql): Promise<number> {
  const [row] = await sql<{ people: number }[]>`select count(*) as people from operator_person`;
  return row?.people ?? 0;
}
