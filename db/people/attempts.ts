import type { Sql } from '../client.ts';

/** How often something may be tried, and in which time. */
export interface AttemptLimit {
  readonly most: number;
  readonly window_s: number;
}

const hashOf = (subject: string) => Bun.SHA256.hash(subject, 'hex');

/**
 * Counts an attempt, and returns how many seconds its sender must wait: 0 if there were not too many.
 * All replicas count together, in the database. The attempt is counted before it is made, so that
 * many at once are not more than the limit.
 */
export async function countAttempt(
  sql: Sql,
  subject: string,
  { most, window_s }: AttemptLimit,
): Promise<number> {
  const [row] = await sql<{ count: number; wait_s: number }[]>`
    insert into sign_in_attempt as known (subject, count, ends_at)
    values (${hashOf(subject)}, 1, weir_now() + ${window_s} * interval '1 second')
    on conflict (subject) do update set
      count = case when known.ends_at <= weir_now() then 1 else least(known.count + 1, 1000000) end,
      ends_at = case when known.ends_at <= weir_now() then excluded.ends_at else known.ends_at end
    returning count, ceil(extract(epoch from ends_at - weir_now()))::int4 as wait_s`;
  if (!row) throw new Error('the database returned no row');
  return row.count > most ? Math.max(row.wait_s, 1) : 0;
}

/** Forgets the attempts of a subject, e.g. after one that succeeded. */
export async function forgetAttempts(sql: Sql, subject: string): Promise<void> {
  await sql`delete from sign_in_attempt where subject = ${hashOf(subject)}`;
}
