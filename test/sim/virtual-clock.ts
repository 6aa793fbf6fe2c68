import type { Clock } from '../../src/actors/clock.ts';

/** A clock that the test moves. If the next timer fires, the time becomes the timer's. */
export class VirtualClock implements Clock {
  private time = 1_000_000;
  private order = 0;
  private timers: { at: number; order: number; callback: () => void }[] = [];

  get pending(): number {
    return this.timers.length;
  }

  /** Milliseconds until the next timer. */
  get nextInMs(): number {
    return Math.min(...this.timers.map((timer) => timer.at)) - this.time;
  }

  now(): number {
    return this.time;
  }

  after(delayMs: number, callback: () => void): () => void {
    this.order += 1;
    const timer = { at: this.time + delayMs, order: this.order, callback };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((each) => each !== timer);
    };
  }

  /** Advances the time and fires all due timers in order. */
  advance(byMs: number): void {
    const end = this.time + byMs;
    while (this.timers.length > 0 && this.nextInMs <= end - this.time) this.fireNext();
    this.time = end;
  }

  fireNext(): void {
    const [next] = [...this.timers].sort((a, b) => a.at - b.at || a.order - b.order);
    if (!next) return;
    this.timers = this.timers.filter((each) => each !== next);
    this.time = Math.max(this.time, next.at);
    next.callback();
  }
}
