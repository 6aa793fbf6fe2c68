import type { Sql } from 'postgres';
import { readAsOf } from './usage/as-of.ts';
import { readSums } from './usage/roll-ups/snapshot.ts';
import { readUsage } from './usage/roll-ups/sums.ts';

/** The most keys that are named. */
const MAX_KEYS = 20;
/** The most failed webhooks that are counted. */
export const MAX_FAILED = 100;
const DAY_MS = 86_400_000;

/** An active key that has used a large share of its cap. Amounts are in nano-USD. */
export interface FullKey {
  readonly id: string;
  readonly name: string;
  readonly limit_nano_usd: number;
  readonly used_nano_usd: number;
}

/** The latest webhooks that failed. */
export interface FailedWebhooks {
  readonly count: number;
  readonly latest_task_id: string;
  readonly latest_url: string;
  readonly first_at: Date;
}

/**
 * Returns the active keys that have used at least a share of their caps, the fullest first. A key that
 * may spend nothing is left out. Charges of open grants count, even if they are posted later.
 */
export function listFullKeys(sql: Sql, organization_id: string, share: number): Promise<FullKey[]> {
  return sql<FullKey[]>`
    with unposted as (
      select key_id, sum(settled_nano_usd - posted_nano_usd)::int8 as nano_usd from quota_grant
      where status = 'open' and organization_id = ${organization_id} group by key_id
    ), used as (
      select id, name, limit_nano_usd,
        (used_nano_usd + coalesce(unposted.nano_usd, 0))::int8 as used_nano_usd
      from api_key left join unposted on unposted.key_id = api_key.id
      where organization_id = ${organization_id} and status = 'active' and deleted_at is null
        and limit_nano_usd > 0 and (expires_at is null or expires_at > weir_now())
    )
    select * from used where used_nano_usd >= limit_nano_usd * ${share}::float8
    order by used_nano_usd / limit_nano_usd::float8 desc, id limit ${MAX_KEYS}`;
}

/** Returns the webhooks of the last `days` days that failed; undefined if none did. */
export async function readFailedWebhooks(
  sql: Sql,
  organization_id: string,
  days: number,
): Promise<FailedWebhooks | undefined> {
  const rows = await sql<{ task_id: string; url: string; at: Date }[]>`
    select task_id, url, coalesce(ended_at, created_at) as at from webhook_delivery
    where organization_id = ${organization_id} and status = 'failed'
      and created_at > weir_now() - ${days} * interval '1 day'
    order by created_at desc, task_id desc limit ${MAX_FAILED}`;
  const [latest] = rows;
  if (!latest) return undefined;
  const first_ms = Math.min(...rows.map(({ at }) => at.getTime()));
  return {
    count: rows.length,
    ...{ latest_task_id: latest.task_id, latest_url: latest.url },
    first_at: new Date(first_ms),
  };
}

/** What an organization spent lately, nano-USD. */
export interface SpendOfDays {
  readonly nano_usd: number;
  /** The length of the time, in days. */
  readonly days: number;
  /** The models that were called. */
  readonly models: ReadonlySet<string>;
}

/** Reads from the sums what an organization spent since the start of a day in UTC, `days` days ago. */
export async function readSpendOfDays(
  sql: Sql,
  organization_id: string,
  days: number,
): Promise<SpendOfDays> {
  const as_of = await readAsOf(sql);
  const from = new Date((Math.floor(as_of.at.getTime() / DAY_MS) - days) * DAY_MS);
  const rows = await readSums(sql, (reader) =>
    readUsage(reader, {
      ...{ filters: { organization_id, from }, as_of, groups: ['model'] },
      counters: ['charged_nano_usd'],
    }),
  );
  return {
    nano_usd: rows.reduce((sum, { counts }) => sum + counts.charged_nano_usd, 0),
    days: (as_of.at.getTime() - from.getTime()) / DAY_MS,
    models: new Set(rows.flatMap(({ model }) => model ?? [])),
  };
}
