import type { Fragment, Sql } from 'postgres';

/** Windows that began so many days ago have ended, and their last calls too. */
const CHECKED_DAYS = 62;

/**
 * Returns the windows of budgets whose sums differ from those of their grants and holds, as a part of the audit:
 * rows of `what`, `id` and the difference.
 */
export function windowGaps(sql: Sql): Fragment {
  return sql`
    select 'budget used' as what, id, used_gap as nano_usd from budget_gaps
    union all select 'budget held', id, held_gap from budget_gaps`;
}

/** Returns the query `budget_gaps` that `windowGaps` reads. */
export function budgetGaps(sql: Sql): Fragment {
  return sql`
    select budget_window.budget_id || ' ' || starts_on as id,
      used_nano_usd - grants.used - holds.used as used_gap,
      held_nano_usd - grants.held - holds.held as held_gap
    from budget_window join budget on budget.id = budget_id
    cross join lateral (select starts_on + ('1 ' || period)::interval as until) as span
    cross join lateral (
      select coalesce(sum(posted_nano_usd), 0) as used,
        coalesce(sum(granted_nano_usd - posted_nano_usd), 0) as held
      from quota_grant where quota_grant.organization_id = budget.organization_id
        and day >= starts_on and day < until
        and (budget.key_id is null or quota_grant.key_id = budget.key_id)
        and (tag_name is null or quota_grant.tags ->> tag_name = tag_value)) as grants
    cross join lateral (
      select coalesce(sum(charged_nano_usd + uncharged_nano_usd), 0) as used,
        coalesce(sum(amount_nano_usd) filter (where status = 'held'), 0) as held
      from hold where hold.organization_id = budget.organization_id
        and day >= starts_on and day < until
        and (budget.key_id is null or hold.key_id = budget.key_id)
        and (tag_name is null or hold.tags ->> tag_name = tag_value)) as holds
    where starts_on > weir_now() - ${CHECKED_DAYS} * interval '1 day'`;
}
