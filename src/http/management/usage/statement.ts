import { readAsOf } from '../../../../db/usage/as-of.ts';
import { breakDown } from '../../../../db/usage/breakdown.ts';
import {
  chargesByKey,
  heldOfMonth,
  listDeposits,
  type Month,
} from '../../../../db/usage/statement.ts';
import { WeirError } from '../../../errors/weir-error.ts';
import { type Handler, json } from '../../endpoint.ts';
import { admitManager } from '../keys.ts';
import type { UsageDeps } from './lines.ts';
import { statementView } from './statement-view.ts';

/**
 * `GET /v1/management/statements/{month}`: the deposits and charges of a calendar month (UTC), e.g.
 * `2026-11`. A charge belongs to the month in which its money was reserved. `is_final` is false
 * while the month runs, or while a task of the month still holds money.
 */
export function getStatement(deps: UsageDeps): Handler {
  return async (context) => {
    const { organization_id } = await admitManager(deps, context);
    const name = context.params['month'] ?? '';
    const month = monthOf(name);
    const sql = deps.usage();
    const as_of = await readAsOf(sql);
    const filters = { organization_id, ...month };
    const [deposits, { total, groups }, keys, held] = await Promise.all([
      listDeposits(sql, organization_id, month),
      breakDown(sql, filters, as_of),
      chargesByKey(sql, organization_id, month, as_of),
      heldOfMonth(sql, organization_id, month),
    ]);
    return json(statementView({ name, month, deposits, total, groups, keys, held, as_of }));
  };
}

const MONTH = /^(\d{4})-(0[1-9]|1[0-2])$/;

function monthOf(text: string): Month {
  const [, year, month] = MONTH.exec(text) ?? [];
  if (year === undefined) {
    throw new WeirError('invalid_request', 'month must be a year and a month.', {
      param: 'month',
      hint: 'Send YYYY-MM, e.g. 2026-11.',
    });
  }
  const [first, next] = [Number(month) - 1, Number(month)];
  const instant = (index: number) => {
    const date = new Date(0);
    date.setUTCFullYear(Number(year), index, 1);
    return date;
  };
  return { from: instant(first), until: instant(next) };
}
