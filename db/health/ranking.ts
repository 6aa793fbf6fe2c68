import type { Sql, TransactionSql } from 'postgres';
import type { JsonValue } from '../actors/store.ts';

/** First part of the key of an advisory lock; the second part is 1. */
const RANKING_LOCK = 7_302;
/**
 * A ranking older than this is built again. The age is a little less than a minute, so that a
 * ranking is built each minute.
 */
const FRESH_S = 55;

/** The stored ranking and the time when it was built. */
export interface StoredRanking {
  readonly updated_at: Date;
  readonly body: JsonValue;
}

/** Returns the stored ranking; undefined before the first one. */
export async function readRanking(sql: Sql | TransactionSql): Promise<StoredRanking | undefined> {
  const [row] = await sql<StoredRanking[]>`select updated_at, body from ranking where id = 1`;
  return row;
}

/**
 * Builds and stores the ranking of this minute. If another replica builds it or has built it, does
 * nothing. Returns true if this call built the ranking.
 */
export function buildRanking(
  sql: Sql,
  build: (tx: TransactionSql) => Promise<object>,
): Promise<boolean> {
  return sql.begin(async (tx) => {
    const [lock] = await tx<{ mine: boolean }[]>`
      select pg_try_advisory_xact_lock(${RANKING_LOCK}, 1) as mine`;
    if (!lock?.mine) return false;
    const [fresh] = await tx`
      select 1 from ranking where updated_at > weir_now() - ${FRESH_S} * interval '1 second'`;
    if (fresh) return false;
    const body = await build(tx);
    await tx`
      insert into ranking (id, updated_at, body) values (1, weir_now(), ${tx.json(body as never)})
      on conflict (id) do update set updated_at = excluded.updated_at, body = excluded.body`;
    return true;
  }) as Promise<boolean>;
}
