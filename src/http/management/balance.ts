import { readBalance } from '../../../db/organizations.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { type Handler, json } from '../endpoint.ts';
import { balanceView } from './balance-view.ts';
import { admitManager, type ManagementDeps } from './keys.ts';

/**
 * `GET /v1/management/balance`. The spec (Management interface) has the route, but does not show
 * its fields. Amounts are in USD. `total_deposited = available + held + used`, exact to one
 * nano-USD. `credit` is the part of `total_deposited` that is lent (decisions: credit-lines).
 */
export function getBalance(deps: ManagementDeps): Handler {
  return async (context) => {
    const { organization_id } = await admitManager(deps, context);
    const balance = await readBalance(deps.orm, organization_id);
    if (!balance) throw new WeirError('not_found', 'There is no such organization.');
    return json(balanceView({ ...balance, used: balance.settled }));
  };
}
