import type { KeyState } from '../../../../db/usage/state.ts';
import { usd } from '../../../json/usd.ts';

/** Returns the money of a key as events have it. `cap` says whether its limit is used up. */
export function keyState({
  key_id,
  status,
  limit_nano_usd: limit,
  used_nano_usd: used,
  held_nano_usd: held,
}: KeyState) {
  return {
    ...{ api_key_id: key_id, status, used_amount: usd(used), held_amount: usd(held) },
    limit_amount: limit === null ? null : usd(limit),
    cap: limit === null ? 'none' : used >= limit ? 'reached' : 'free',
  };
}
