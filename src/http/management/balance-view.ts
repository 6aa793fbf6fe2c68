import type { BalanceState } from '../../../db/usage/state.ts';
import { usd } from '../../json/usd.ts';

/** Returns a balance as clients see it. */
export function balanceView({ deposited, available, held, used, credit }: BalanceState) {
  return {
    ...{ object: 'balance', currency: 'USD', total_deposited: usd(deposited) },
    ...{ available: usd(available), held: usd(held), used: usd(used), credit: usd(credit) },
  };
}
