import { readAsOf, writeAsOf } from '../../../../db/usage/as-of.ts';
import { breakDown } from '../../../../db/usage/breakdown.ts';
import {
  chargesByKey,
  type DepositRow,
  heldOfMonth,
  listDeposits,
  type Month,
} from '../../../../db/usage/statement.ts';
import { WeirError } from '../../../errors/weir-error.ts';
import { usd } from '../../../json/usd.ts';
import { type Handler, json } from '../../endpoint.ts';
import { admitManager } from '../keys.ts';
import { groupsOf, sumsOf } from './billing.ts';
import type { UsageDeps } from './lines.ts';

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
    return json({
      object: 'statement',
      month: name,
      currency: 'USD',
      deposits: deposits.map(({ id, kind, amount_nano_usd, reference, note, created_at }) => ({
        ...{ id, kind, amount: usd(amount_nano_usd), reference, note },
        created_at: created_at.toISOString(),
      })),
      deposited: usd(sumOf(deposits, (kind) => kind === 'payment')),
      credit: usd(sumOf(deposits, (kind) => kind !== 'payment')),
      charged: sumsOf(total),
      held: usd(held),
      by_api_key: keys.map(({ key_id, name: key_name, requests, charged_nano_usd }) => ({
        ...{ api_key_id: key_id, name: key_name, requests, amount: usd(charged_nano_usd) },
      })),
      ...groupsOf(groups),
      is_final: held === 0 && as_of.at >= month.until,
      as_of: writeAsOf(as_of),
    });
  };
}

const sumOf = (deposits: readonly DepositRow[], isMeant: (kind: DepositRow['kind']) => boolean) =>
  deposits
    .filter(({ kind }) => isMeant(kind))
    .reduce((sum, { amount_nano_usd }) => sum + amount_nano_usd, 0);

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
