/** The slack (money ready for later calls) covers at least this many calls like the present one. */
const SLACK_CALLS = 16;
/** The slack also covers at least what the key spends in this time at its recent rate, ms. */
const SLACK_MS = 5_000;

/**
 * The recent spend of a key, nano-USD. It decides the slack: the money that the key's grant should
 * have ready for later calls.
 */
export class RecentSpend {
  private chargedSinceSweep = 0;
  private spendPerMs = 0;
  private peakReserved = 0;
  private hadCalls = false;

  recordCall(): void {
    this.hadCalls = true;
  }

  recordReserved(nano_usd: number): void {
    if (nano_usd > this.peakReserved) this.peakReserved = nano_usd;
  }

  recordCharge(nano_usd: number): void {
    this.chargedSinceSweep += nano_usd;
  }

  /**
   * Returns the slack, whole nano-USD: what the key may need until the next sweep, if the present
   * call needs `amount`.
   */
  slackFor(amount: number): number {
    const { chargedSinceSweep: sinceSweep, spendPerMs: perMs, peakReserved } = this;
    return Math.ceil(
      Math.max(amount * SLACK_CALLS, peakReserved * 2, sinceSweep, perMs * SLACK_MS),
    );
  }

  /** Ends a period between two sweeps. Returns true if a call arrived in the period. */
  sweep(elapsedMs: number, reserved: number): boolean {
    const { hadCalls } = this;
    this.spendPerMs = (this.spendPerMs + this.chargedSinceSweep / Math.max(1, elapsedMs)) / 2;
    this.chargedSinceSweep = 0;
    this.peakReserved = Math.max(reserved, Math.floor(this.peakReserved / 2));
    this.hadCalls = false;
    return hadCalls;
  }
}
