import type { Fragment, Sql, TransactionSql } from 'postgres';
import { subscribers } from './alerts.ts';

/** The shares of a cap that are alerted to, percent. */
const CAP_SHARES = [50, 80, 100] as const;
/**
 * A key that has used this much of its cap and whose calls are refused counts as full: what is left pays for no
 * call. Percent.
 */
const NEARLY_FULL_PERCENT = 95;
/** What is recent, for a forecast: the spend since the start of a day in UTC, so many days ago. */
export const RECENT_SPEND_DAYS = 7;

/**
 * The caps of organizations that a rule looks at, one row for each:
 *
 * - `owner_id`, `subject_kind`, `subject_id`, `subject_name`: whose cap it is;
 * - `limit_nano_usd`, `used_nano_usd`;
 * - `span`: the name of the window in which the cap holds; '' = a cap for good;
 * - `until`: when the window ends; for a cap for good, when the month ends (UTC);
 * - `per_day_nano_usd`: the recent spend of a day; 0 if `needs` is `use`, because it costs a read;
 * - `is_refused`: calls are refused, because the rest of the cap pays for none.
 *
 * Another kind of caps, e.g. budgets with windows, is another source here. Nothing else needs to know it.
 */
const SOURCES: readonly Source[] = [keyCaps];

type Needs = 'use' | 'spend';
type Source = (sql: Sql | TransactionSql, owners: Fragment, needs: Needs) => Fragment;

function caps(sql: Sql | TransactionSql, owners: Fragment, needs: Needs): Fragment {
  return SOURCES.map((source) => source(sql, owners, needs)).reduce(
    (all, source) => sql`${all} union all ${source}`,
  );
}

/** The caps of active keys. Charges of open grants count, even if they are posted later. */
function keyCaps(sql: Sql | TransactionSql, owners: Fragment, needs: Needs): Fragment {
  const recent =
    needs === 'use'
      ? sql`select 0 as nano_usd`
      : sql`select sum(day.charged_nano_usd) as nano_usd
          from usage_series as series join usage_key_day as day on day.series_id = series.id
          where series.organization_id = key.organization_id and series.scope = 'key_total'
            and series.key_id = key.id and day.day >= ${firstDay(sql)}`;
  return sql`
    select key.organization_id as owner_id, 'key' as subject_kind, key.id as subject_id,
      key.name as subject_name, key.limit_nano_usd,
      (key.used_nano_usd + coalesce(unposted.nano_usd, 0))::int8 as used_nano_usd, '' as span,
      (date_trunc('month', weir_now() at time zone 'UTC') + interval '1 month') at time zone 'UTC'
        as until,
      coalesce(recent.nano_usd / ${recentDays(sql)}, 0)::float8 as per_day_nano_usd,
      (key.used_nano_usd + coalesce(unposted.nano_usd, 0)) * 100 >= key.limit_nano_usd * ${NEARLY_FULL_PERCENT}
        and exists (
          select 1 from call_record
          where call_record.key_id = key.id and call_record.at > weir_now() - interval '1 day'
            and call_record.error_code = 'quota_exceeded') as is_refused
    from api_key as key
      join (${owners}) as owner on owner.owner_id = key.organization_id
      left join lateral (
        select sum(settled_nano_usd - posted_nano_usd)::int8 as nano_usd from quota_grant
        where quota_grant.key_id = key.id and quota_grant.status = 'open') as unposted on true
      left join lateral (${recent}) as recent on true
    where key.status = 'active' and key.deleted_at is null and key.limit_nano_usd > 0
      and (key.expires_at is null or key.expires_at > weir_now())`;
}

/** The number of today's day in UTC, from the Unix epoch. */
export const today = (sql: Sql | TransactionSql): Fragment =>
  sql`floor(extract(epoch from weir_now()) / 86400)::int4`;
const firstDay = (sql: Sql | TransactionSql): Fragment =>
  sql`(${today(sql)} - ${RECENT_SPEND_DAYS})`;
/** How long the recent time is, in days with their fraction. */
export const recentDays = (sql: Sql | TransactionSql): Fragment =>
  sql`(extract(epoch from weir_now()) / 86400 - ${firstDay(sql)})`;

/** Names a cap and its window. With another limit, or in another window, a share is a new cause. */
const capName = (sql: Sql | TransactionSql): Fragment =>
  sql`subject_kind || ':' || subject_id || ':' || limit_nano_usd || ':' || span`;

const figures = (sql: Sql | TransactionSql): Fragment =>
  sql`'limit_nano_usd', limit_nano_usd, 'used_nano_usd', used_nano_usd, 'window', nullif(span, '')`;

/** The causes of alerts to used caps: one for each share that is reached. */
export function usedCaps(sql: Sql | TransactionSql): Fragment {
  return sql`
    select owner_id, 'cap_used:' || ${capName(sql)} || ':' || share as cause, subject_kind, subject_id,
      subject_name, jsonb_build_object('share', share, 'is_refused', is_refused,
        'until', case when span <> '' then until end, ${figures(sql)}) as figures
    from (${caps(sql, subscribers(sql, 'cap_used'), 'use')}) as cap,
      unnest(${[...CAP_SHARES]}::int4[]) as share
    where used_nano_usd::numeric * 100 >= limit_nano_usd::numeric * share
      or (share = ${CAP_SHARES.at(-1) ?? 100} and is_refused)`;
}

/**
 * The causes of alerts to caps that will be reached before their window ends, if the spend stays as it is. A cap that
 * is reached already needs no forecast.
 */
export function forecastCaps(sql: Sql | TransactionSql): Fragment {
  return sql`
    select owner_id, 'cap_forecast:' || ${capName(sql)} || ':' || (until at time zone 'UTC')::date as cause, subject_kind, subject_id,
      subject_name, jsonb_build_object('per_day_nano_usd', per_day_nano_usd, 'crosses_at', weir_now()
        + (limit_nano_usd - used_nano_usd) / per_day_nano_usd * interval '1 day', 'until', until, ${figures(sql)}) as figures
    from (${caps(sql, subscribers(sql, 'cap_forecast'), 'spend')}) as cap
    where used_nano_usd < limit_nano_usd and per_day_nano_usd > 0
      and (limit_nano_usd - used_nano_usd) / per_day_nano_usd
        < extract(epoch from until - weir_now()) / 86400`;
}
