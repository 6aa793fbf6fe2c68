import type { Fragment, Sql, TransactionSql } from 'postgres';
import { subscribers } from './alerts.ts';
import { RECENT_SPEND_DAYS, recentDays, today } from './cap-source.ts';

/** A balance is low if it lasts for fewer days at the recent spend, unless the organization set an amount. */
const LOW_BALANCE_DAYS = 3;

/**
 * The causes of alerts to low balances: one when a balance gets low, and one when it is used up. After a deposit, both
 * are new causes. Money that is only held counts as left, and charges of open grants do not.
 */
export function lowBalances(sql: Sql | TransactionSql): Fragment {
  return sql`
    select owner_id, 'low_balance:' || deposited_nano_usd || ':' || stage as cause,
      'organization' as subject_kind, owner_id as subject_id, name as subject_name,
      jsonb_build_object('stage', stage, 'left_nano_usd', left_nano_usd, 'low_nano_usd', low_nano_usd,
        'per_day_nano_usd', per_day_nano_usd) as figures
    from (
      select found.*, coalesce(settings.low_balance_nano_usd::float8, ${LOW_BALANCE_DAYS} * per_day_nano_usd)
        as low_nano_usd
      from (
        select owner.owner_id, org.name, org.deposited_nano_usd,
          (org.balance_nano_usd + org.held_nano_usd - coalesce(unposted.nano_usd, 0))::int8 as left_nano_usd,
          coalesce(recent.nano_usd / ${recentDays(sql)}, 0)::float8 as per_day_nano_usd
        from (${subscribers(sql, 'low_balance')}) as owner
          join organization as org on org.id = owner.owner_id
          left join (
            select organization_id, sum(settled_nano_usd - posted_nano_usd)::int8 as nano_usd
            from quota_grant where status = 'open' group by organization_id
          ) as unposted on unposted.organization_id = org.id
          left join lateral (
            select sum(day.charged_nano_usd) as nano_usd
            from usage_series as series join usage_day as day on day.series_id = series.id
            where series.organization_id = org.id and series.scope = 'total'
              and day.day >= ${today(sql)} - ${RECENT_SPEND_DAYS}) as recent on true
        where org.status = 'active' and org.deposited_nano_usd > 0
      ) as found left join alert_settings as settings on settings.owner_id = found.owner_id
    ) as balance, unnest(array['low', 'used_up']) as stage
    where case stage when 'low' then left_nano_usd < low_nano_usd else left_nano_usd <= 0 end`;
}
