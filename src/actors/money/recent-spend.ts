/** A comfortable grant covers this many calls like the one in hand … */
const SLACK_CALLS = 16;
/** … or this much time at the key's recent rate, or twice what ran at once: whichever is most. */
const SLACK_MS = 5_000;

/** What a key did lately, nano-USD: decides how much slack its grant has. */
export class RecentSpend {
  private sinceSweep = 0;
  private perMs = 0;
  private peakReserved = 0;
  private touched = false;

  /** A call asked to be admitted. */
  recordCall(): void {
    this.touched = true;
  }

  recordReserved(nano_usd: number): void {
    if (nano_usd > this.peakReserved) this.peakReserved = nano_usd;
  }

  recordCharge(nano_usd: number): void {
    this.sinceSweep += nano_usd;
  }

  /** What the key may need before the next look, whole nano-USD. */
  slackFor(amount: number): number {
    const { sinceSweep, perMs, peakReserved } = this;
    return Math.ceil(
      Math.max(amount * SLACK_CALLS, peakReserved * 2, sinceSweep, perMs * SLACK_MS),
    );
  }

  /** Ends a period; true if anybody asked for anything in it. */
  sweep(elapsedMs: number, reserved: number): boolean {
    const { touched } = this;
    this.perMs = (this.perMs + this.sinceSweep / Math.max(1, elapsedMs)) / 2;
    this.sinceSweep = 0;
    this.peakReserved = Math.max(reserved, Math.floor(this.peakReserved / 2));
    this.touched = false;
    return touched;
  }
}
