import type { Consumption, Reservation } from '../../actors/money/reservation.ts';
import type { CallRecord } from '../records/call-record.ts';
import type { LimitLease } from './call-limits.ts';

/** Reserves the money of a call. */
interface Money {
  /** Returns undefined if the call must wait for its money. */
  readonly tryReserve: () => Reservation | undefined;
  readonly reserve: () => Promise<Reservation>;
}

/**
 * Reserves money for a call that took something of its limits. What it took ends with its reservation, or at once
 * if it gets none. Returns no promise if nothing must be waited for.
 */
export function reserveLimited(
  taking: Promise<LimitLease> | LimitLease,
  record: CallRecord | undefined,
  money: Money,
): Promise<Reservation> | Reservation {
  return taking instanceof Promise
    ? taking.then((lease) => reserveWith(lease, record, money))
    : reserveWith(taking, record, money);
}

function reserveWith(
  lease: LimitLease,
  record: CallRecord | undefined,
  { tryReserve, reserve }: Money,
): Promise<Reservation> | Reservation {
  if (lease.reached.length > 0) record?.reach(lease.reached);
  const endWith = (reservation: Reservation) => {
    reservation.whenEnded((line) => lease.end(line ? tokensOf(line) : 0));
    return reservation;
  };
  const end = (error: unknown) => {
    lease.end(0);
    throw error;
  };
  try {
    const reservation = tryReserve();
    return reservation ? endWith(reservation) : reserve().then(endWith, end);
  } catch (error) {
    return end(error);
  }
}

function tokensOf(line: Consumption): number {
  const { input_tokens, cached_input_tokens, cache_write_tokens, output_tokens } = line;
  return input_tokens + cached_input_tokens + cache_write_tokens + output_tokens;
}
