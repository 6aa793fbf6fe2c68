import type { InlineLine } from '../../../db/ledger/usage-line.ts';
import type { AdmissionRequest } from './admission-queue.ts';
import type { ReachedBudget } from './ledger-commands.ts';

/** Nearly all calls exceed no soft budget, so they share one list. */
export const NONE_REACHED: readonly ReachedBudget[] = [];

/** A usage line without its amounts, which the quota actor adds. */
export type Consumption = Omit<
  InlineLine,
  'grant_id' | 'charged_nano_usd' | 'overrun_nano_usd' | 'counted_nano_usd'
>;

/**
 * Returns the usage line of a call that cost `actual` nano-USD, of which the cap counts `counted`. The organization
 * pays at most what the cap counts.
 */
export function chargedLine(
  line: Consumption,
  grant_id: string,
  actual: number,
  counted: number,
): InlineLine {
  const charged = Math.min(actual, counted);
  return {
    ...line,
    grant_id,
    charged_nano_usd: charged,
    overrun_nano_usd: actual - charged,
    ...(counted === charged ? {} : { counted_nano_usd: counted }),
  };
}

/** The amounts of a charge after its commit. */
export interface Settlement {
  /** Nano-USD that the organization pays. */
  charged: number;
  /** Nano-USD that the platform absorbs. */
  overrun: number;
}

/** The methods of the quota actor that its reservations use. */
export interface ReservationOwner {
  extend(grant_id: string, request: AdmissionRequest): Promise<number>;
  settle(
    grant_id: string,
    reserved: number,
    line: Consumption,
    actual: number,
    counted: number,
  ): Promise<Settlement>;
  release(grant_id: string, reserved: number): void;
  takeBack(grant_id: string, extra: number): void;
}

/**
 * Money reserved for one call in flight. A reservation ends exactly once: it is settled or
 * released. A second `settle` rejects and a second `release` does nothing, so a handler cannot
 * charge twice (P1).
 */
export class Reservation {
  private hasEnded = false;
  private onEnd: ((line: Consumption | undefined) => void) | undefined;

  constructor(
    private readonly owner: ReservationOwner,
    private readonly grant_id: string,
    /** Reserved nano-USD. */
    private reserved: number,
    /** The soft budgets that the call exceeds. */
    readonly reached: readonly ReachedBudget[] = NONE_REACHED,
  ) {}

  /**
   * Calls `onEnd` once, when the reservation ends: with the usage line, or with undefined if it is released. Must
   * not throw.
   */
  whenEnded(onEnd: (line: Consumption | undefined) => void): void {
    this.onEnd = onEnd;
  }

  get amount(): number {
    return this.reserved;
  }

  /**
   * Reserves more money while the call runs. Returns the added nano-USD, which may be less than
   * requested; 0 = nothing was added.
   */
  async extend(request: AdmissionRequest): Promise<number> {
    if (this.hasEnded) return 0;
    const extra = await this.owner.extend(this.grant_id, request);
    // The client may have left after the extension was admitted and before this line ran.
    if (this.hasEnded) {
      this.owner.takeBack(this.grant_id, extra);
      return 0;
    }
    this.reserved += extra;
    return extra;
  }

  /**
   * Charges `actual` nano-USD and resolves after the commit. The key's cap counts `counted`, which is at
   * least the charge. Rejects if the reservation has ended.
   */
  settle(line: Consumption, actual: number, counted = actual): Promise<Settlement> {
    if (this.hasEnded) return Promise.reject(new Error('the reservation has already ended'));
    this.hasEnded = true;
    this.onEnd?.(line);
    return this.owner.settle(this.grant_id, this.reserved, line, actual, counted);
  }

  /** Frees the money at once, without a write. Call this if the client received nothing. */
  release(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.onEnd?.(undefined);
    this.owner.release(this.grant_id, this.reserved);
  }
}
