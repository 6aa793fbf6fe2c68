/** Slack of a grant: this many calls of the present amount, */
const SLACK_CALLS = 16;
/** or this much time at the recent rate, or twice the peak of reservations, if that is more. */
const SLACK_MS = 5_000;

/** Recent spend of a key, nano-USD. It decides the slack of the key's grant. */
export class RecentSpend {
  private chargedSinceSweep = 0;
  private spendPerMs = 0;
  private peakReserved = 0;
  private hadCalls = false;

  /** Records that a call arrived. */
  recordCall(): void {
    this.hadCalls = true;
  }

  recordReserved(nano_usd: number): void {
    if (nano_usd > this.peakReserved) this.peakReserved = nano_usd;
  }

  recordCharge(nano_usd: number): void {
    this.chargedSinceSweep += nano_usd;
  }

  /** What the key may need until the next sweep, whole nano-USD. */
  slackFor(amount: number): number {
    const { chargedSinceSweep: sinceSweep, spendPerMs: perMs, peakReserved } = this;
    return Math.ceil(
      Math.max(amount * SLACK_CALLS, peakReserved * 2, sinceSweep, perMs * SLACK_MS),
    );
  }

  /** Ends a period; true if a call arrived in it. */
  sweep(elapsedMs: number, reserved: number): boolean {
    const { hadCalls } = this;
    this.spendPerMs = (this.spendPerMs + this.chargedSinceSweep / Math.max(1, elapsedMs)) / 2;
    this.chargedSinceSweep = 0;
    this.peakReserved = Math.max(reserved, Math.floor(this.peakReserved / 2));
    this.hadCalls = false;
    return hadCalls;
  }
}
