import type { Consumption, Reservation } from '../../actors/money/reservation.ts';
import type { CallRecord } from '../records/call-record.ts';
import type { LimitLease } from './call-limits.ts';

/**
 * Reserves money for a call that took something of its limits. What it took ends with its reservation, or at once
 * if it gets none.
 */
export async function reserveLimited(
  taking: Promise<LimitLease>,
  record: CallRecord | undefined,
  reserve: () => Promise<Reservation>,
): Promise<Reservation> {
  const lease = await taking;
  if (lease.reached.length > 0) record?.reach(lease.reached);
  try {
    const reservation = await reserve();
    reservation.whenEnded((line) => lease.end(line ? tokensOf(line) : 0));
    return reservation;
  } catch (error) {
    lease.end(0);
    throw error;
  }
}

function tokensOf(line: Consumption): number {
  const { input_tokens, cached_input_tokens, cache_write_tokens, output_tokens } = line;
  return input_tokens + cached_input_tokens + cache_write_tokens + output_tokens;
}
