import type { Sql } from 'postgres';
import type { AsOf } from './as-of.ts';
import { isIn } from './as-of.ts';
import { type CallRow, callColumns } from './calls.ts';

/** The most calls that one change names. The counts have all. */
const MAX_NAMED = 20;

/** Calls that were recorded between two committed states. Amounts are in nano-USD. */
interface CallCount {
  readonly key_id: string;
  readonly outcome: string;
  readonly calls: number;
  readonly charged_nano_usd: number;
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
  const rows = (alias: string) => sql`
    ${sql(`${alias}.organization_id`)} = ${organization_id}
    and ${isNew(sql, since, alias)} and ${isIn(sql, now, alias)}`;
  const { charged, free } = callColumns(sql);
  const [counts, latest, tasks] = await Promise.all([
    sql<CallCount[]>`
      select key_id, outcome, count(*) as calls, coalesce(sum(charged), 0)::int8 as charged_nano_usd
      from (
        select key_id, outcome, charged_nano_usd as charged from usage_line where ${rows('usage_line')}
        union all select key_id, outcome, 0 from call_record where ${rows('call_record')}
      ) as call group by 1, 2 order by 1, 2`,
    sql<CallRow[]>`
      select * from (
        select ${charged} from usage_line where ${rows('usage_line')}
        union all select ${free} from call_record where ${rows('call_record')}
      ) as call order by at desc, sort_id desc limit ${MAX_NAMED}`,
    sql<TaskChange[]>`
      select id, status, model, scene from task
      where organization_id = ${organization_id} and status in ('pending', 'processing', 'completed', 'failed')
        and created_at > ${since.at}::timestamptz - interval '1 day'
        and (created_at > ${since.at}::timestamptz - interval '2 seconds'
          or ended_at > ${since.at}::timestamptz - interval '2 seconds')
      order by created_at desc limit 100`,
  ]);
  return { counts, latest, tasks };
}
