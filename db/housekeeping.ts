import type { Sql } from 'postgres';

/** The most rows that one statement deletes, so that locks are short and the WAL stays small. */
const MAX_DELETED = 5_000;

/**
 * Deletes at most 5,000 dead effects, and effects that an earlier version of Weir ended, that were
 * created more than `age_ms` ago. Returns the number of deleted rows. Ids of effects are ordered by time, so the primary key is the only index needed.
 */
export async function deleteEndedEffects(
  sql: Sql,
  now_ms: number,
  age_ms: number,
): Promise<number> {
  const rows = await sql`
    delete from outbox where id in (
      select id from outbox where id < ${firstIdAt(now_ms - age_ms)} and status <> 'pending'
      order by id limit ${MAX_DELETED})
    returning 1`;
  return rows.length;
}

/**
 * Deletes at most 5,000 idempotency keys that are older than `age_ms`. Returns the number of
 * deleted rows.
 */
export async function deleteOldIdempotencyKeys(sql: Sql, age_ms: number): Promise<number> {
  const rows = await sql`
    delete from task_request where ctid in (
      select ctid from task_request
      where created_at < weir_now() - ${age_ms} * interval '1 millisecond'
      order by created_at limit ${MAX_DELETED})
    returning 1`;
  return rows.length;
}

/** Returns the smallest UUID of version 7 for a time (RFC 9562, 5.7). */
export function firstIdAt(ms: number): string {
  const hex = Math.max(0, Math.floor(ms)).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}
