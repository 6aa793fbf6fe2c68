import type { Fragment, Sql } from 'postgres';
import { budgetGaps, windowGaps } from '../budgets/audit.ts';

/** A sum of the ledger that does not add up. The audit must never find one (P1, P15). */
export interface Imbalance {
  what: string;
  id: string;
  nano_usd: number;
}

/**
 * Runs the audit of the books. Returns no row if all sums add up, otherwise at most 100 rows. The
 * query runs in one database snapshot, so it checks one committed state, even while money moves.
 *
 * - deposits of an organization = balance + held + settled, and its credit = its deposits of credit;
 * - held money of an organization or key = granted - posted of its open grants + its open holds;
 * - used and held money of a budget's window = that of the grants and holds of its days;
 * - an organization's and a key's charges = the sum of their usage lines;
 * - what a key's cap counts beyond its charges = the same of its usage lines;
 * - the charges of a grant or a settled hold = the sum of its usage lines;
 * - an organization's sums of usage = the sum of the usage lines that they stand for.
 *
 * Lines that retention removed count with the totals that it left. The query reads all usage lines at once,
 * so a replica runs it only to name what is wrong (`lines-audit.ts`).
 */
export function findImbalances(sql: Sql): Promise<Imbalance[]> {
  const lines = sql`
    select organization_id, key_id, sum(charged_nano_usd) as charged,
      sum(charged_nano_usd) filter (where xid < next_xid and xid <> all(open_xids)) as folded
    from usage_line cross join (select next_xid, open_xids from usage_fold) as fold group by 1, 2
    union all
    select organization_id, key_id, charged_nano_usd, charged_nano_usd from closed_charge`;
  const payers = sql`
    union all
    select 'grant lines', id::text, gap from (
      select quota_grant.id,
        settled_nano_usd - uncharged_nano_usd - coalesce(sum(usage_line.charged_nano_usd), 0)
        - coalesce(min(closed_payer.charged_nano_usd), 0) as gap
      from quota_grant left join usage_line on usage_line.grant_id = quota_grant.id
      left join closed_payer on closed_payer.id = quota_grant.id
      group by quota_grant.id) as grant_lines
    union all
    select 'hold lines', id::text, gap from (
      select hold.id, hold.charged_nano_usd - coalesce(sum(usage_line.charged_nano_usd), 0)
        - coalesce(min(closed_payer.charged_nano_usd), 0) as gap
      from hold left join usage_line on usage_line.hold_id = hold.id
      left join closed_payer on closed_payer.id = hold.id
      group by hold.id) as hold_lines
    union all
    select 'key counted', id, gap from (
      select api_key.id, api_key.uncharged_nano_usd + coalesce(grants.uncharged, 0)
        - coalesce(counted.uncharged, 0) - coalesce(closed.uncharged, 0) as gap
      from api_key left join (
        select key_id, sum(uncharged_nano_usd - uncharged_posted_nano_usd) as uncharged
        from quota_grant where status = 'open' group by 1) as grants on grants.key_id = api_key.id
      left join (
        select key_id, sum(counted_nano_usd - charged_nano_usd) as uncharged from usage_line
        where counted_nano_usd is not null group by 1) as counted on counted.key_id = api_key.id
      left join (
        select key_id, sum(uncharged_nano_usd) as uncharged from closed_charge group by 1
      ) as closed on closed.key_id = api_key.id) as key_counted`;
  return compareSums(sql, lines, payers);
}

/**
 * Compares the sums of keys and organizations with each other, and with the charges of `lines`: rows of an
 * organization, a key, what is `charged`, and the part of it that the sums of usage have. Without `lines`,
 * charges are not compared. `more` adds further sums.
 */
export function compareSums(
  sql: Sql,
  lines: Fragment | undefined,
  more: Fragment = sql``,
): Promise<Imbalance[]> {
  const charges = lines
    ? sql`
      union all select 'key used', id, used_gap from keys
      union all select 'organization settled', id, settled_gap from organizations
      union all select 'organization usage', id, usage_gap from organizations
        where (select is_ready from usage_fold)`
    : sql``;
  const none = sql`
    select null::text as organization_id, null::text as key_id, 0 as charged, 0 as folded where false`;
  return sql<Imbalance[]>`
    with grants as (
      select organization_id, key_id, sum(granted_nano_usd - posted_nano_usd) as held,
        sum(settled_nano_usd - posted_nano_usd - (uncharged_nano_usd - uncharged_posted_nano_usd)) as unposted
      from quota_grant where status = 'open' group by 1, 2
    ), holds as (
      select organization_id, key_id, sum(amount_nano_usd) as held from hold
      where status = 'held' group by 1, 2
    ), lines as (
      select organization_id, key_id, sum(charged) as charged, sum(folded) as folded
      from (${lines ?? none}) as part group by 1, 2
    ), sums as (
      select organization_id, sum(charged_nano_usd) as charged
      from usage_day join usage_series on usage_series.id = series_id
      where scope = 'total' group by 1
    ), deposits as (
      select organization_id, sum(amount_nano_usd) as amount,
        sum(amount_nano_usd) filter (where kind <> 'payment') as credit
      from deposit group by 1
    ), owned_lines as (
      select organization_id, sum(charged) as charged, sum(folded) as folded from lines group by 1
    ), owned_grants as (
      select organization_id, sum(held) as held, sum(unposted) as unposted from grants group by 1
    ), owned_holds as (
      select organization_id, sum(held) as held from holds group by 1
    ), key_lines as (
      select key_id, sum(charged) as charged from lines group by 1
    ), keys as (
      select api_key.id,
        api_key.held_nano_usd - coalesce(grants.held, 0) - coalesce(holds.held, 0) as held_gap,
        api_key.used_nano_usd - api_key.uncharged_nano_usd + coalesce(grants.unposted, 0)
          - coalesce(key_lines.charged, 0) as used_gap
      from api_key
      left join grants on grants.key_id = api_key.id
      left join holds on holds.key_id = api_key.id
      left join key_lines on key_lines.key_id = api_key.id
    ), organizations as (
      select organization.id,
        deposited_nano_usd - coalesce(deposits.amount, 0) as deposit_gap,
        credit_nano_usd - coalesce(deposits.credit, 0) as credit_gap,
        deposited_nano_usd - balance_nano_usd - held_nano_usd - settled_nano_usd as sum_gap,
        held_nano_usd - coalesce(owned_grants.held, 0) - coalesce(owned_holds.held, 0) as held_gap,
        settled_nano_usd + coalesce(owned_grants.unposted, 0) - coalesce(owned_lines.charged, 0)
          as settled_gap,
        coalesce(sums.charged, 0) - coalesce(owned_lines.folded, 0) as usage_gap
      from organization
      left join deposits on deposits.organization_id = organization.id
      left join owned_grants on owned_grants.organization_id = organization.id
      left join owned_holds on owned_holds.organization_id = organization.id
      left join owned_lines on owned_lines.organization_id = organization.id
      left join sums on sums.organization_id = organization.id
    ), budget_gaps as (${budgetGaps(sql)})
    select what, id, nano_usd::int8 from (
      select 'key held' as what, id, held_gap as nano_usd from keys
      union all select 'organization deposits', id, deposit_gap from organizations
      union all select 'organization credit', id, credit_gap from organizations
      union all select 'organization sum', id, sum_gap from organizations
      union all select 'organization held', id, held_gap from organizations
      union all ${windowGaps(sql)}
      ${charges} ${more}
    ) as gaps where nano_usd <> 0 order by what, id limit 100`;
}
