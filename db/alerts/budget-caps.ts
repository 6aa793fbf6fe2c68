import type { Fragment, Sql, TransactionSql } from 'postgres';
import { shownBudgets } from '../budgets/rows.ts';
import { firstDay, NEARLY_FULL_PERCENT, type Needs, recentDays } from './cap-source.ts';

/**
 * The present windows of budgets (`CapSource`). The subject is the budget, so that two budgets of one key are two
 * causes, and `span` is the window's first day. Budgets of 0, and those of keys that may make no calls, are left out.
 * A call of the window or of the last day that was refused counts, whichever is shorter.
 */
export function budgetCaps(sql: Sql | TransactionSql, owners: Fragment, needs: Needs): Fragment {
  return sql`
    select budget.organization_id as owner_id, 'budget' as subject_kind, budget.id as subject_id,
      coalesce(tag_name || ': ' || tag_value, key.name, org.name) as subject_name, budget.limit_nano_usd, budget.used_nano_usd, starts_on as span,
      resets_at as until, coalesce(recent.nano_usd / ${recentDays(sql)}, 0)::float8 as per_day_nano_usd,
      when_reached = 'refuse' and budget.used_nano_usd::numeric * 100 >= budget.limit_nano_usd::numeric * ${NEARLY_FULL_PERCENT} and exists (
        select 1 from call_record
        where call_record.organization_id = budget.organization_id
          and (budget.key_id is null or call_record.key_id = budget.key_id)
          and (tag_name is null or call_record.detail -> 'tags' ->> tag_name = tag_value)
          and call_record.at > weir_now() - interval '1 day'
          and call_record.at >= starts_on::date::timestamp at time zone budget.time_zone
          and call_record.error_code = 'quota_exceeded') as is_refused,
      jsonb_build_object('period', period, 'budget_of', budget_of, 'api_key_id', budget.key_id,
        'when_reached', when_reached, 'move_to', move_to,
        'tag', case when tag_name is not null then jsonb_build_object(tag_name, tag_value) end) as more
    from (${owners}) as owner
      join (${shownBudgets(sql)}) as budget on budget.organization_id = owner.owner_id
      join organization as org on org.id = owner.owner_id
      left join api_key as key on key.id = budget.key_id
      cross join lateral (
        select case when tag_name is not null then 'tag' when budget.key_id is null then 'organization'
          else 'key' end as budget_of) as scope
      left join lateral (${recentSpend(sql, needs)}) as recent on true
    where budget.limit_nano_usd > 0 and org.status = 'active' and (budget.key_id is null or (
      key.status = 'active' and key.deleted_at is null
      and (key.expires_at is null or key.expires_at > weir_now())))`;
}

/** The recent spend of the calls that a budget limits. Only grants and holds know the tags that have budgets. */
function recentSpend(sql: Sql | TransactionSql, needs: Needs): Fragment {
  if (needs === 'use') return sql`select 0 as nano_usd`;
  return sql`
    select sum(charged_nano_usd) as nano_usd from (
      select charged_nano_usd from usage_series as series
        join usage_key_day as day on day.series_id = series.id
      where series.organization_id = budget.organization_id and series.scope = 'key_total'
        and series.key_id = budget.key_id and day.day >= ${firstDay(sql)}
      union all
      select charged_nano_usd from usage_series as series
        join usage_day as day on day.series_id = series.id
      where series.organization_id = budget.organization_id and series.scope = 'total'
        and budget.key_id is null and tag_name is null and day.day >= ${firstDay(sql)}
      union all
      select settled_nano_usd from quota_grant
      where quota_grant.organization_id = budget.organization_id and tag_name is not null
        and day >= date '1970-01-01' + ${firstDay(sql)} and tags ->> tag_name = tag_value
      union all
      select charged_nano_usd + uncharged_nano_usd from hold
      where hold.organization_id = budget.organization_id and tag_name is not null
        and day >= date '1970-01-01' + ${firstDay(sql)} and tags ->> tag_name = tag_value) as spent`;
}
