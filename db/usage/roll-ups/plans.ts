/** Which plans PostgreSQL may use, where it does not know how many rows a query will find. */
import type { Sql } from 'postgres';

/** Runs a query for which the planner must not use some kinds of plans, in a transaction. */
export async function withoutPlans<Result>(
  tx: Sql,
  plans: readonly string[],
  query: () => PromiseLike<Result>,
): Promise<Result> {
  await tx`select set_config(name, 'off', true) from unnest(${[...plans]}::text[]) as name`;
  const result = await query();
  await tx`select set_config(name, 'on', true) from unnest(${[...plans]}::text[]) as name`;
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
