import type { Sql, TransactionSql } from 'postgres';

/** The identity of a change that can be repeated. */
export interface ChangeId {
  /** '' = the installation. */
  readonly organization_id: string;
  readonly actor_id: string;
  readonly route: string;
  /** SHA-256 of the idempotency key, hex. */
  readonly repeat_hash: string;
}

/** An earlier change with the same idempotency key. */
interface EarlierChange {
  readonly request_hash: string;
  /** Encrypted. */
  readonly answer: Uint8Array;
}

/** The most changes of one organization whose answers are kept. */
export const MAX_KEPT_CHANGES = 10_000;

/**
 * True if an organization has as many kept answers as it may. Expired ones count until they are
 * deleted, at most a few minutes.
 */
export async function hasManyChanges(
  tx: TransactionSql,
  organization_id: string,
): Promise<boolean> {
  const [row] = await tx<{ changes: number }[]>`
    select count(*) as changes from kept_change where organization_id = ${organization_id}`;
  return (row?.changes ?? 0) > MAX_KEPT_CHANGES;
}

/**
 * Claims an idempotency key for the change that the transaction makes. If an earlier change has the key,
 * returns that change. If another transaction is making it, waits until that one has ended.
 */
export async function claimChange(
  tx: TransactionSql,
  id: ChangeId,
  request_hash: string,
  keep_ms: number,
): Promise<EarlierChange | undefined> {
  const { organization_id, actor_id, route, repeat_hash } = id;
  const { count } = await tx`
    insert into kept_change as earlier
      (organization_id, actor_id, route, repeat_hash, request_hash, answer, expires_at)
    values (${organization_id}, ${actor_id}, ${route}, ${repeat_hash}, ${request_hash}, '',
      weir_now() + ${keep_ms} * interval '1 millisecond')
    on conflict (organization_id, actor_id, route, repeat_hash) do update set
      request_hash = excluded.request_hash, answer = '', expires_at = excluded.expires_at
    where earlier.expires_at <= weir_now()`;
  if (count > 0) return undefined;
  const [earlier] = await tx<EarlierChange[]>`
    select request_hash, answer from kept_change
    where organization_id = ${organization_id} and actor_id = ${actor_id} and route = ${route}
      and repeat_hash = ${repeat_hash}`;
  if (!earlier) throw new Error('the claim of an idempotency key vanished');
  return earlier;
}

/** True if the answer of an earlier change with this identity is kept. */
export async function hasKeptChange(
  sql: Sql,
  { organization_id, actor_id, route, repeat_hash }: ChangeId,
): Promise<boolean> {
  const rows = await sql`
    select from kept_change
    where organization_id = ${organization_id} and actor_id = ${actor_id} and route = ${route}
      and repeat_hash = ${repeat_hash} and expires_at > weir_now()`;
  return rows.length > 0;
}

/** Keeps the encrypted answer of the change that the transaction made. */
export async function keepAnswer(
  tx: TransactionSql,
  { organization_id, actor_id, route, repeat_hash }: ChangeId,
  answer: Uint8Array,
): Promise<void> {
  await tx`
    update kept_change set answer = ${Buffer.from(answer)}
    where organization_id = ${organization_id} and actor_id = ${actor_id} and route = ${route}
      and repeat_hash = ${repeat_hash}`;
}

/** The most rows that one statement deletes, so that locks are short and the WAL stays small. */
const MAX_DELETED = 5_000;

/** Deletes at most 5,000 expired answers of changes. */
export async function deleteExpiredChanges(sql: Sql): Promise<void> {
  await sql`
    delete from kept_change where ctid in (
      select ctid from kept_change where expires_at <= weir_now()
      order by expires_at limit ${MAX_DELETED})`;
}
