import { type AsOf, writeAsOf } from '../../../../db/usage/as-of.ts';
import type { Breakdown } from '../../../../db/usage/breakdown.ts';
import type { DepositRow, KeyChargeRow, Month } from '../../../../db/usage/statement.ts';
import { usd } from '../../../json/usd.ts';
import { groupsOf, sumsOf } from './billing-view.ts';

interface StatementParts extends Pick<Breakdown, 'total' | 'groups'> {
  /** `YYYY-MM` */
  readonly name: string;
  readonly month: Month;
  readonly deposits: readonly DepositRow[];
  readonly keys: readonly KeyChargeRow[];
  /** What tasks of the month hold, nano-USD. */
  readonly held: number;
  readonly as_of: AsOf;
}

/** Returns a statement as clients see it. */
export function statementView(parts: StatementParts) {
  const { name, month, deposits, total, groups, keys, held, as_of } = parts;
  return {
    object: 'statement' as const,
    month: name,
    currency: 'USD' as const,
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
  };
}

const sumOf = (deposits: readonly DepositRow[], isMeant: (kind: DepositRow['kind']) => boolean) =>
  deposits
    .filter(({ kind }) => isMeant(kind))
    .reduce((sum, { amount_nano_usd }) => sum + amount_nano_usd, 0);
