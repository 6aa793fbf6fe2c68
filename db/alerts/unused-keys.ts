import type { Fragment, Sql, TransactionSql } from 'postgres';
import { subscribers } from './alerts.ts';
import { today } from './cap-source.ts';
import { DEFAULT_ALERT_SETTINGS } from './settings.ts';

/**
 * The causes of alerts to keys that nobody used for a while. A refused call is a use, too. If the key is used again
 * and then not, that is a new cause. A key that is younger than this while is not looked at.
 */
export function unusedKeys(sql: Sql | TransactionSql): Fragment {
  return sql`
    select owner_id, 'key_unused:' || key_id || ':' || coalesce(last_day::text, 'never') as cause,
      'key' as subject_kind, key_id as subject_id, name as subject_name,
      jsonb_build_object('days', days, 'last_used_on',
        to_char(to_timestamp(last_day * 86400::float8) at time zone 'UTC', 'YYYY-MM-DD')) as figures
    from (
      select owner.owner_id, key.id as key_id, key.name, key.created_at,
        coalesce(settings.unused_days, ${DEFAULT_ALERT_SETTINGS.unused_days}) as days, (
          select max(day.day)
          from usage_series as series join usage_key_day as day on day.series_id = series.id
          where series.organization_id = owner.owner_id and series.scope = 'key_total'
            and series.key_id = key.id and day.requests > 0) as last_day
      from (${subscribers(sql, 'key_unused')}) as owner
        join api_key as key on key.organization_id = owner.owner_id
        left join alert_settings as settings on settings.owner_id = owner.owner_id
      where key.status = 'active' and key.deleted_at is null
        and (key.expires_at is null or key.expires_at > weir_now())
    ) as found
    where created_at <= weir_now() - days * interval '1 day'
      and (last_day is null or last_day < ${today(sql)} - days)`;
}
