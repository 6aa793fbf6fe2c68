import type { Fragment, Sql, TransactionSql } from 'postgres';
import { firstDay, NEARLY_FULL_PERCENT, type Needs, recentDays } from './cap-source.ts';

/** The caps of active keys. Charges of open grants count, even if they are posted later. */
export function keyCaps(sql: Sql | TransactionSql, owners: Fragment, needs: Needs): Fragment {
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
            and call_record.error_code = 'quota_exceeded') as is_refused,
      '{}'::jsonb as more
    from api_key as key
      join (${owners}) as owner on owner.owner_id = key.organization_id
      left join lateral (
        select sum(settled_nano_usd - posted_nano_usd)::int8 as nano_usd from quota_grant
        where quota_grant.key_id = key.id and quota_grant.status = 'open') as unposted on true
      left join lateral (${recent}) as recent on true
    where key.status = 'active' and key.deleted_at is null and key.limit_nano_usd > 0
      and (key.expires_at is null or key.expires_at > weir_now())`;
}
