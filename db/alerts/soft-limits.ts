import type { Fragment, Sql, TransactionSql } from 'postgres';
import { shownBudgets } from '../budgets/rows.ts';
import { subscribers } from './alerts.ts';

/** How far back calls are read. It is longer than the time between two evaluations. */
const RECENT = "interval '5 minutes'";
/** The most calls of an organization that are read at a time. What lasts is found in the latest ones. */
const MAX_CALLS = 5_000;

/** The organizations that receive the alert, and have a soft budget or a key with a soft limit. */
const owners = (sql: Sql | TransactionSql): Fragment => sql`
  select owner_id, since from (${subscribers(sql, 'soft_limit_reached')}) as owner
  where exists (select 1 from budget
      where budget.organization_id = owner_id and when_reached <> 'refuse')
    or exists (select 1 from api_key
      where api_key.organization_id = owner_id and api_key.deleted_at is null
        and limits @? '$[*] ? (@.when_reached == "warn" || exists(@.when_reached.move_to))')`;

/** The soft budgets and limits that recent calls exceeded: one row for each, with what the calls did. */
const reached = (sql: Sql | TransactionSql): Fragment => sql`
  select owner.owner_id, item ->> 'budget_id' as budget_id,
    case when item ->> 'budget_id' is null then line.key_id end as key_id,
    item ->> 'type' as type, coalesce(item ->> 'model', '') as model,
    max(line.model) filter (where line.moved_from is not null and not item ? 'not_moved') as moved_to
  from (${owners(sql)}) as owner
    cross join lateral (
      select key_id, model, detail -> 'reached' as reached, detail ->> 'moved_from' as moved_from
      from usage_line
      where organization_id = owner.owner_id and at > weir_now() - ${sql.unsafe(RECENT)}
        and at >= owner.since and detail ? 'reached'
      order by at desc limit ${MAX_CALLS}) as line
    cross join lateral jsonb_array_elements(line.reached) as item
  group by 1, 2, 3, 4, 5`;

/**
 * The causes of alerts to soft budgets and limits that warned of calls or moved them: one for a window of a budget, and
 * one for a limit of a key and a day (UTC). It reads single calls, but only of organizations that have soft limits.
 */
export function reachedSoftLimits(sql: Sql | TransactionSql): Fragment {
  return sql`
    with reached as materialized (${reached(sql)})
    select owner_id, 'soft_limit_reached:key:' || key_id || ':' || type || ':' || model || ':' || today as cause,
      'key' as subject_kind, key_id as subject_id, key.name as subject_name,
      jsonb_build_object('limit', type, 'model', nullif(model, ''), 'day', today, 'moved_to', moved_to) as figures
    from reached join api_key as key on key.id = reached.key_id,
      to_char(weir_now() at time zone 'UTC', 'YYYY-MM-DD') as today
    where key.deleted_at is null
    union all
    select owner_id, 'soft_limit_reached:budget:' || budget_id || ':' || budget.limit_nano_usd || ':' || starts_on,
      'budget', budget_id, coalesce(tag_name || ': ' || tag_value, key.name, org.name),
      jsonb_build_object('limit', 'budget', 'period', period, 'window', starts_on, 'until', resets_at,
        'budget_of', case when tag_name is not null then 'tag' when budget.key_id is null then 'organization'
          else 'key' end, 'limit_nano_usd', budget.limit_nano_usd, 'moved_to', moved_to)
    from reached
      join (${shownBudgets(sql)}) as budget on budget.id = reached.budget_id
      join organization as org on org.id = owner_id
      left join api_key as key on key.id = budget.key_id`;
}
