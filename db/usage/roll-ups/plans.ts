/** Which plans PostgreSQL may use, where it does not know how many rows a query will find. */
import type { Sql } from 'postgres';

/**
 * Runs a query for which the planner must not use some kinds of plans, in a transaction. The first statement of
 * `query` does not wait for the setting, and later statements do not wait for its end.
 */
export async function withoutPlans<Result>(
  tx: Sql,
  plans: readonly string[],
  query: () => PromiseLike<Result>,
): Promise<Result> {
  if (plans.length === 0) return query();
  const set = (value: 'on' | 'off') =>
    tx`select set_config(name, ${value}, true) from unnest(${[...plans]}::text[]) as name`.execute();
  const [, result] = await Promise.all([set('off'), query()]);
  // If the connection is lost, later statements fail too.
  set('on').catch(() => undefined);
  return result;
}

/**
 * Runs a query for the rows of new transactions, in a transaction. Only the BRIN index finds them quickly. The
 * planner does not know how few they are, and would read the whole table. The query must choose rows by `xid`
 * alone, in a subquery with `offset 0`, so that no other index seems to fit.
 */
export function byTransaction<Result>(tx: Sql, query: () => PromiseLike<Result>): Promise<Result> {
  return withoutPlans(tx, ['enable_seqscan', 'enable_indexscan'], query);
}
