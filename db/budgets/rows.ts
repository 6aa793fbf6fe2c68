/** The budgets of organizations, as their people make, see and change them. Amounts are in nano-USD. */
import type { Sql, TransactionSql } from 'postgres';
import { type BudgetPeriod, windowStart } from './calendar.ts';
import type { BudgetScope } from './tags.ts';
import { type BudgetRow, sumWindow, writeWindows } from './windows.ts';

/** What an organization chooses for a budget when it makes one. */
interface NewBudget extends BudgetScope {
  readonly id: string;
  readonly period: BudgetPeriod;
  readonly limit_nano_usd: number;
  readonly when_reached: BudgetRow['when_reached'];
  /** The model to which calls move; null unless `when_reached` is `move`. */
  readonly move_to: string | null;
}

/** A budget with its present window. */
export interface ShownBudget extends NewBudget {
  readonly used_nano_usd: number;
  readonly held_nano_usd: number;
  /** The first day of the window, in the time zone of the organization. */
  readonly starts_on: string;
  /** When the next window begins. */
  readonly resets_at: Date;
  readonly time_zone: string;
  readonly created_at: Date;
}

/** A query for budgets with their present windows. Charges that are not posted count as used, as in the view of a key. */
export const shownBudgets = (sql: Sql | TransactionSql) => sql`
  select budget.id, budget.organization_id, budget.key_id, tag_name, tag_value, budget.period,
    budget.limit_nano_usd, when_reached, move_to, budget.created_at, time_zone, span.starts_on::text,
    weir_day_end((span.until - interval '12 hours') at time zone time_zone, time_zone) as resets_at,
    (coalesce(budget_window.used_nano_usd, 0) + unposted)::int8 as used_nano_usd,
    (coalesce(budget_window.held_nano_usd, 0) - unposted)::int8 as held_nano_usd
  from (select weir_now() as at offset 0) as clock cross join budget
  join organization on organization.id = budget.organization_id
  cross join lateral (
    select date_trunc(period, at at time zone time_zone)::date as starts_on,
      date_trunc(period, at at time zone time_zone) + ('1 ' || period)::interval as until) as span
  left join budget_window on budget_id = budget.id and budget_window.starts_on = span.starts_on
  cross join lateral (
    select coalesce(sum(settled_nano_usd - posted_nano_usd), 0) as unposted from quota_grant
    where quota_grant.organization_id = budget.organization_id and status = 'open'
      and day >= span.starts_on and day < span.until
      and (budget.key_id is null or quota_grant.key_id = budget.key_id)
      and (tag_name is null or quota_grant.tags ->> tag_name = tag_value)) as charged`;

/** Returns the budgets of an organization, the oldest first. */
export function listBudgets(sql: Sql, organization_id: string): Promise<ShownBudget[]> {
  return sql<ShownBudget[]>`
    ${shownBudgets(sql)} where budget.organization_id = ${organization_id} order by budget.created_at, budget.id`;
}

/** Finds a budget of an organization; undefined if there is none. */
export async function findBudget(
  sql: Sql | TransactionSql,
  organization_id: string,
  id: string,
): Promise<ShownBudget | undefined> {
  const [row] = await sql<ShownBudget[]>`
    ${shownBudgets(sql)} where budget.organization_id = ${organization_id} and budget.id = ${id}`;
  return row;
}

/** Locks the money of an organization, as ledger commands do, so that no sum of a window changes. */
export async function lockMoneyOf(tx: TransactionSql, organization_id: string): Promise<void> {
  await tx`select from organization where id = ${organization_id} for no key update`;
}

/** True if the organization has this key, and did not delete it. */
export async function hasKey(
  tx: TransactionSql,
  organization_id: string,
  key_id: string,
): Promise<boolean> {
  const rows = await tx`
    select from api_key
    where id = ${key_id} and organization_id = ${organization_id} and deleted_at is null`;
  return rows.length > 0;
}

/**
 * Inserts a budget. Its present window counts what was spent and is held since the window began. Returns false
 * if there is one of this period for the same keys. The caller must have locked the organization's money.
 */
export async function insertBudget(tx: TransactionSql, budget: NewBudget): Promise<boolean> {
  const inserted = await tx`
    insert into budget ${tx(budget as never)}
    on conflict on constraint one_budget_per_scope_and_period do nothing returning id`;
  if (inserted.length === 0) return false;
  await tx`update organization set has_budgets = true where id = ${budget.organization_id}`;
  const [today] = await tx<{ day: string }[]>`
    select (weir_now() at time zone time_zone)::date::text as day from organization
    where id = ${budget.organization_id}`;
  const start = windowStart(budget.period, today?.day ?? '');
  const row: BudgetRow = { ...budget, windows: new Map() };
  row.windows.set(start, await sumWindow(tx, budget, start));
  await writeWindows(tx, [row]);
  return true;
}

/**
 * Changes the limit of a budget, and what happens to calls beyond it. If the limit is below the used and held money, the ceiling is that money first, and
 * comes down with it, as the ceiling of a key does. The caller must have locked the organization's money.
 */
export async function updateBudget(
  tx: TransactionSql,
  id: string,
  {
    limit_nano_usd,
    when_reached,
    move_to,
  }: Pick<NewBudget, 'limit_nano_usd' | 'when_reached' | 'move_to'>,
): Promise<void> {
  await tx`
    update budget set limit_nano_usd = ${limit_nano_usd}, when_reached = ${when_reached}, move_to = ${move_to}
    where id = ${id}`;
  await tx`
    update budget_window
    set ceiling_nano_usd = greatest(${limit_nano_usd}::int8, used_nano_usd + held_nano_usd)
    where budget_id = ${id}`;
}

/** A tag that a budget limits. */
export interface BudgetedTag {
  readonly organization_id: string;
  readonly name: string;
  readonly value: string;
}

/** Returns the tags that budgets limit, of one organization or of all. */
export function readBudgetedTags(sql: Sql, organization_id?: string): Promise<BudgetedTag[]> {
  return sql<BudgetedTag[]>`
    select distinct organization_id, tag_name as name, tag_value as value from budget
    where tag_name is not null
      ${organization_id === undefined ? sql`` : sql`and organization_id = ${organization_id}`}`;
}

/** Deletes a budget. The caller must have locked the organization's money. */
export async function deleteBudget(
  tx: TransactionSql,
  organization_id: string,
  id: string,
): Promise<void> {
  await tx`delete from budget where id = ${id}`;
  await tx`
    update organization set has_budgets = exists (
      select from budget where organization_id = ${organization_id})
    where id = ${organization_id}`;
}

/** Returns the number of an organization's budgets. */
export async function countBudgets(tx: TransactionSql, organization_id: string): Promise<number> {
  const [row] = await tx<{ budgets: number }[]>`
    select count(*)::int4 as budgets from budget where organization_id = ${organization_id}`;
  return row?.budgets ?? 0;
}
