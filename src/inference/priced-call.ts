/** What a chat call may cost, before it is admitted. */
import { reservedPpm } from '../catalogue/own-key-fee.ts';
import { Budget } from './budget/budget.ts';
import type { InferenceCall } from './call.ts';
import { refuseUnpriced, withoutUnpricedSearch } from './requests/billed-parameters.ts';

/** Returns a call without what has no price. Throws WeirError for parameters without a price. */
export function pricedCall(given: InferenceCall): InferenceCall {
  const call = withoutUnpricedSearch(given);
  refuseUnpriced(call.protocol, call.body, call.model);
  return call;
}

/** Returns the budget of a call: of its price, or of its fee if own keys serve it. */
export function chatBudget(call: InferenceCall): Budget {
  const { own, key } = call;
  return new Budget(call, own && reservedPpm(own.fee_ppm, key.cap_counts));
}
