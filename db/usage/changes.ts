import type { Sql } from 'postgres';
import type { AsOf } from './as-of.ts';
import { isIn } from './as-of.ts';
import { type CallRow, callColumns } from './calls.ts';
import { byTransaction } from './roll-ups/plans.ts';

/** The most calls that one change names. The counts have all. */
const MAX_NAMED = 20;

/** Calls that were recorded between two committed states. Amounts are in nano-USD. */
interface CallCount {
  readonly key_id: string;
  readonly outcome: string;
  readonly calls: number;
  readonly charged_nano_usd: number;
}

/** The calls of one key and outcome. */
interface GroupRow extends CallCount {
  /** The ids of the newest calls of all groups. */
  readonly newest: readonly string[];
}

/** What happened in an organization between two committed states. */
export interface UsageChange {
  readonly counts: readonly CallCount[];
  /** The newest calls. */
  readonly latest: readonly CallRow[];
  readonly tasks: readonly TaskChange[];
}

/** A task that was created, or that ended. */
export interface TaskChange {
  readonly id: string;
  readonly status: string;
  readonly model: string;
  readonly scene: string;
}

/** A condition: a row came after `since`. The first part lets the index on `xid` skip old pages. */
function isNew(sql: Sql, since: AsOf, alias: string) {
  const xid = sql(`${alias}.xid`);
  const first = Math.min(since.next_xid, ...since.open_xids);
  const open = since.open_xids as number[];
  return sql`${xid} >= ${first} and (${xid} >= ${since.next_xid} or ${xid} = any(${open}::int8[]))`;
}

/** Reads what was recorded after `since` and is in `now`. */
export async function readChange(
  sql: Sql,
  organization_id: string,
  since: AsOf,
  now: AsOf,
): Promise<UsageChange> {
  // By its transaction alone, so that the index of transactions finds it.
  const rows = (table: 'usage_line' | 'call_record', columns: string) => sql`(
    select id, at, organization_id, key_id, outcome, ${sql.unsafe(columns)} as charged from ${sql(table)}
    where ${isNew(sql, since, table)} and ${isIn(sql, now, table)} offset 0) as call
    where organization_id = ${organization_id}`;
  const readGroups = sql.begin('read only', async (transaction) => {
    const tx = transaction as unknown as Sql;
    // Other processes begin later than this few rows are read.
    await tx`set local max_parallel_workers_per_gather = 0`;
    return byTransaction(
      tx,
      // The newest ones are found without sorting all.
      () => tx<GroupRow[]>`
        with call as materialized (
          select * from ${rows('usage_line', 'charged_nano_usd')}
          union all select * from ${rows('call_record', '0')}
        ) select key_id, outcome, count(*)::int4 as calls, coalesce(sum(charged), 0)::int8 as charged_nano_usd,
          array(select id from call order by at desc, id desc limit ${tx.unsafe(String(MAX_NAMED))}) as newest
        from call group by 1, 2 order by 1, 2`,
    );
  });
  const [groups, tasks] = await Promise.all([
    readGroups,
    sql<TaskChange[]>`
      select id, status, model, scene from task
      where organization_id = ${organization_id} and status in ('pending', 'processing', 'completed', 'failed')
        and created_at > ${since.at}::timestamptz - interval '1 day'
        and (created_at > ${since.at}::timestamptz - interval '2 seconds'
          or ended_at > ${since.at}::timestamptz - interval '2 seconds')
      order by created_at desc limit 100`,
  ]);
  const newest = groups[0]?.newest ?? [];
  return {
    counts: groups.map(({ newest: _, ...count }) => count),
    latest: newest.length > 0 ? await newestCalls(sql, newest) : [],
    tasks,
  };
}

/** Returns the newest calls among those with some ids. */
function newestCalls(sql: Sql, ids: readonly string[]): Promise<CallRow[]> {
  const { charged, free } = callColumns(sql);
  const named = sql`id = any(${[...ids]}::uuid[])`;
  return sql<CallRow[]>`
    select * from (
      select ${charged} from usage_line where ${named}
      union all select ${free} from call_record where ${named}
    ) as call order by at desc, sort_id desc limit ${MAX_NAMED}`;
}
