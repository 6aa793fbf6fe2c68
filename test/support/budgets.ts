/** Budgets of a test account, and a database clock that the test sets. */
import type { Sql, TransactionSql } from 'postgres';
import { type BudgetPeriod, nextWindowStart, windowStart } from '../../db/budgets/calendar.ts';
import { insertBudget, lockMoneyOf } from '../../db/budgets/rows.ts';
import type { BudgetRow } from '../../db/budgets/windows.ts';
import type { Account } from './ledger.ts';

/** Sets the database's clock of a connection. The pool must have one connection. */
export async function setDatabaseClock(sql: Sql, now_ms: number): Promise<void> {
  await sql`select set_config('weir.now', ${new Date(now_ms).toISOString()}, false)`;
}

/** What a test's budget limits: a tag, a key, or the organization if both are missing. */
interface Limited extends Pick<Account, 'organization_id'> {
  readonly key_id: string | null;
  readonly tag?: readonly [name: string, value: string] | undefined;
}

/** Makes a budget. Returns its id. */
export async function makeBudget(
  sql: Sql,
  of: Limited,
  period: BudgetPeriod,
  limit_nano_usd: number,
  choice: Pick<BudgetRow, 'when_reached' | 'move_to'> = { when_reached: 'refuse', move_to: null },
): Promise<string> {
  const id = `budget_${crypto.randomUUID()}`;
  const { organization_id, key_id, tag: [tag_name, tag_value] = [null, null] } = of;
  const scope = { organization_id, key_id, tag_name, tag_value };
  await sql.begin(async (tx) => {
    await lockMoneyOf(tx, organization_id);
    await insertBudget(tx, { id, ...scope, period, limit_nano_usd, ...choice });
  });
  return id;
}

interface ReadWindow {
  readonly budget_id: string;
  readonly starts_on: string;
  readonly used: number;
  readonly held: number;
}

/** Returns the windows of an organization's budgets. Charges that are not posted count as held. */
export function readWindows(
  sql: Sql | TransactionSql,
  organization_id: string,
): Promise<ReadWindow[]> {
  return sql<ReadWindow[]>`
    select budget_id, starts_on::text, used_nano_usd as used, held_nano_usd as held
    from budget_window join budget on budget.id = budget_id
    where organization_id = ${organization_id} order by starts_on, budget_id`;
}

/** True if a window has a day. */
export function isInWindow(period: BudgetPeriod, starts_on: string, day: string): boolean {
  return windowStart(period, day) === starts_on && day < nextWindowStart(period, starts_on);
}
