import { WeirError } from '../../errors/weir-error.ts';
import type { Clock } from '../clock.ts';

/** Waiting calls of one key on one replica; more are refused at once with 503. */
export const MAX_WAITING_CALLS = 4_096;
/** A call waits at most this long for money that other calls hold; then it is told when to retry. */
const ADMISSION_WAIT_MS = 10_000;

/** Says when a call is given up: an AbortSignal, or what is as good as one. */
export interface ListenableSignal extends Pick<AbortSignal, 'aborted' | 'reason'> {
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** What a call asks for, in nano-USD. */
export interface AdmissionRequest {
  /** The upper bound of its price. */
  amount: number;
  /**
   * The least it can run with, asked only when `amount` is not there and nothing in flight can
   * bring it: the caller then bounds its output to what it got. Not above `amount`.
   */
  minimum: () => number;
  /** The client; when it leaves, the ask is withdrawn. */
  signal?: ListenableSignal;
  wait_ms?: number;
}

/** A call that waits to be admitted, or a call in flight that waits for more. */
export interface WaitingCall {
  event: 'RESERVE' | 'EXTEND';
  amount: number;
  minimum: () => number;
  admit: (amount: number) => void;
  reject: (error: unknown) => void;
}

/** The calls of one key that wait for money, in order. Everybody leaves: admitted, refused or late. */
export class AdmissionQueue {
  private readonly waiters: WaitingCall[] = [];

  constructor(
    private readonly clock: Clock,
    /** The error of a call that waited too long. */
    private readonly tooLate: () => WeirError,
  ) {}

  get size(): number {
    return this.waiters.length;
  }

  get first(): WaitingCall | undefined {
    return this.waiters[0];
  }

  /** Nano-USD that all of them ask for. */
  get total(): number {
    return this.waiters.reduce((sum, { amount }) => sum + amount, 0);
  }

  has(waiter: WaitingCall): boolean {
    return this.waiters.includes(waiter);
  }

  /** A copy: who is called may leave while the list is walked. */
  all(): WaitingCall[] {
    return [...this.waiters];
  }

  /** Resolves with the admitted amount; rejects with a WeirError or with the signal's reason. */
  push(event: 'RESERVE' | 'EXTEND', ask: AdmissionRequest): Promise<number> {
    if (this.waiters.length >= MAX_WAITING_CALLS) {
      const message = 'Too many requests of this API key are waiting.';
      return Promise.reject(new WeirError('service_unavailable', message, { retry_after: 1 }));
    }
    return new Promise((resolve, reject) => {
      const leave = () => {
        stopClock();
        ask.signal?.removeEventListener('abort', hangUp);
        const index = this.waiters.indexOf(waiter);
        if (index >= 0) this.waiters.splice(index, 1);
      };
      const waiter: WaitingCall = {
        event,
        amount: ask.amount,
        minimum: ask.minimum,
        admit: (amount) => {
          leave();
          resolve(amount);
        },
        reject: (error) => {
          leave();
          reject(error);
        },
      };
      const hangUp = () => waiter.reject(ask.signal?.reason);
      const stopClock = this.clock.after(ask.wait_ms ?? ADMISSION_WAIT_MS, () =>
        waiter.reject(this.tooLate()),
      );
      ask.signal?.addEventListener('abort', hangUp);
      // A stream in flight goes first: what it already produced is at stake.
      if (event === 'EXTEND') this.waiters.unshift(waiter);
      else this.waiters.push(waiter);
      if (ask.signal?.aborted) hangUp();
    });
  }

  rejectAll(error: unknown): void {
    for (const waiter of this.all()) waiter.reject(error);
  }
}
