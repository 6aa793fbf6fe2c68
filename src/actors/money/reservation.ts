import type { InlineLine } from '../../../db/ledger/settle.ts';
import type { AdmissionRequest } from './admission-queue.ts';

/** What was consumed, without the money: the quota actor fills that in. */
export type Consumption = Omit<InlineLine, 'grant_id' | 'charged_nano_usd' | 'overrun_nano_usd'>;

export interface Settlement {
  /** Nano-USD that the organization paid. */
  charged: number;
  /** Nano-USD that the platform absorbed. */
  overrun: number;
}

/** The quota actor, as its reservations know it. */
export interface ReservationOwner {
  extend(grant_id: string, ask: AdmissionRequest): Promise<number>;
  settle(
    grant_id: string,
    reserved: number,
    line: Consumption,
    actual: number,
  ): Promise<Settlement>;
  release(grant_id: string, reserved: number): void;
}

/**
 * Money set aside for one call in flight. It ends exactly once: settled or released. What comes
 * after that is refused here, so no path through a handler can charge twice (P1).
 */
export class Reservation {
  private ended = false;

  constructor(
    private readonly owner: ReservationOwner,
    private readonly grant_id: string,
    /** Nano-USD set aside now. */
    private held: number,
  ) {}

  get amount(): number {
    return this.held;
  }

  /** Asks for more while the call runs; answers what it got, nano-USD, 0 = nothing is left. */
  async extend(ask: AdmissionRequest): Promise<number> {
    if (this.ended) return 0;
    const extra = await this.owner.extend(this.grant_id, ask);
    this.held += extra;
    return extra;
  }

  /** Charges `actual` nano-USD; resolves when the charge is committed. */
  settle(line: Consumption, actual: number): Promise<Settlement> {
    if (this.ended) return Promise.reject(new Error('a reservation ends once'));
    this.ended = true;
    return this.owner.settle(this.grant_id, this.held, line, actual);
  }

  /** Nothing was delivered: the money is free again at once, nothing is written. */
  release(): void {
    if (this.ended) return;
    this.ended = true;
    this.owner.release(this.grant_id, this.held);
  }
}
