import { WeirError } from '../../errors/weir-error.ts';
import type { Clock } from '../clock.ts';

/** The most waiting calls of one key on one replica. Further calls are refused at once with 503. */
export const MAX_WAITING_CALLS = 4_096;
/**
 * How long a call waits for money that other calls hold. After this time the call fails with an
 * error that names a retry time.
 */
const ADMISSION_WAIT_MS = 10_000;

/** Ends the wait of a call for the money of a day that has ended. */
export const DAY_ENDED = new Error('the day of the grant has ended');

/** The members of AbortSignal that the queue uses, so that other objects can be passed too. */
export interface ListenableSignal extends Pick<AbortSignal, 'aborted' | 'reason'> {
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** The money that a call needs, in nano-USD. */
export interface AdmissionRequest {
  /** The upper bound of the call's charge. */
  amount: number;
  /**
   * Returns the smallest amount that the call can run with, at most `amount`. Called only if less
   * than `amount` is free and no call in flight or hold can free more. If the call is admitted with
   * less than `amount`, it must limit its output to the admitted amount.
   */
  minimum: () => number;
  /** The signal that aborts when the client leaves. Then the call stops waiting. */
  signal?: ListenableSignal;
  /** How long the call waits at most; default: `ADMISSION_WAIT_MS`. */
  wait_ms?: number;
  /** UUID of the request, for the history of the quota actor. */
  call_id?: string | undefined;
}

/** A call that waits to be admitted, or a call in flight that waits for more money. */
export interface WaitingCall {
  event: 'RESERVE' | 'EXTEND';
  amount: number;
  minimum: () => number;
  call_id: string | undefined;
  admit: (amount: number) => void;
  reject: (error: unknown) => void;
}

/**
 * The calls of one key that wait for money, in the order in which they are tried. Each call is
 * admitted, is refused, times out, or ends because its client left.
 */
export class AdmissionQueue {
  private readonly waitingCalls: WaitingCall[] = [];

  constructor(
    private readonly clock: Clock,
    /** Returns the error for a call that waited too long. */
    private readonly createTimeoutError: () => WeirError,
  ) {}

  get size(): number {
    return this.waitingCalls.length;
  }

  get first(): WaitingCall | undefined {
    return this.waitingCalls[0];
  }

  /** The nano-USD that all waiting calls need together. */
  get totalAmount(): number {
    return this.waitingCalls.reduce((sum, { amount }) => sum + amount, 0);
  }

  has(waiter: WaitingCall): boolean {
    return this.waitingCalls.includes(waiter);
  }

  /** Returns a copy, because calls leave the queue while the caller iterates. */
  all(): WaitingCall[] {
    return [...this.waitingCalls];
  }

  /**
   * Adds a call that waits to be admitted (`RESERVE`), or a call in flight that needs more money
   * (`EXTEND`). Resolves with the admitted amount, which may be less than requested. Rejects with a
   * WeirError or with the signal's reason.
   */
  push(event: 'RESERVE' | 'EXTEND', request: AdmissionRequest): Promise<number> {
    if (this.waitingCalls.length >= MAX_WAITING_CALLS) {
      const message = 'Too many requests of this API key are waiting.';
      return Promise.reject(new WeirError('service_unavailable', message, { retry_after: 1 }));
    }
    return new Promise((resolve, reject) => {
      const remove = () => {
        stopClock();
        request.signal?.removeEventListener('abort', onAbort);
        const index = this.waitingCalls.indexOf(waiter);
        if (index >= 0) this.waitingCalls.splice(index, 1);
      };
      const waiter: WaitingCall = {
        event,
        amount: request.amount,
        minimum: request.minimum,
        call_id: request.call_id,
        admit: (amount) => {
          remove();
          resolve(amount);
        },
        reject: (error) => {
          remove();
          reject(error);
        },
      };
      const onAbort = () => waiter.reject(request.signal?.reason);
      const stopClock = this.clock.after(request.wait_ms ?? ADMISSION_WAIT_MS, () =>
        waiter.reject(this.createTimeoutError()),
      );
      request.signal?.addEventListener('abort', onAbort);
      // Streams in flight come first, because their output is already delivered and must be charged.
      if (event === 'EXTEND') this.waitingCalls.unshift(waiter);
      else this.waitingCalls.push(waiter);
      if (request.signal?.aborted) onAbort();
    });
  }

  /** Ends the waits of calls that are not admitted yet, because the day of their money has ended. */
  endDay(): void {
    for (const waiter of this.all()) if (waiter.event === 'RESERVE') waiter.reject(DAY_ENDED);
  }

  /** Rejects the extensions, because the grant of their calls was closed. */
  rejectExtensions(error: unknown): void {
    for (const waiter of this.all()) if (waiter.event === 'EXTEND') waiter.reject(error);
  }

  rejectAll(error: unknown): void {
    for (const waiter of this.all()) waiter.reject(error);
  }
}
