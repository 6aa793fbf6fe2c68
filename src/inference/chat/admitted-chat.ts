import type { Reservation } from '../../actors/money/reservation.ts';
import type { CallSignal } from '../../upstreams/contract.ts';
import type { Budget } from '../budget/budget.ts';
import type { Lookup } from '../cache/answer-cache.ts';
import type { ChatFlight } from '../cache/chat-flight.ts';
import type { StoredHit } from '../cache/entry.ts';
import { failureOf } from '../cache/flight.ts';
import type { InferenceCall } from '../call.ts';

/** A chat call that has its money, on the way to its answer. */
export class AdmittedChat {
  /** What was in the cache just before the call had its money. Unknown if it had to wait. */
  found: StoredHit | undefined | 'unknown' = 'unknown';
  /** The flight that the call began, which identical calls follow. */
  flight: ChatFlight | undefined;
  /** True once an upstream answered. */
  isAnswered = false;

  constructor(
    readonly call: InferenceCall,
    /** Undefined if the call bypasses the cache. */
    readonly lookup: Lookup | undefined,
    readonly budget: Budget,
    readonly reservation: Reservation,
    /** Set if the money covers less than the client's own limit. */
    readonly max_output_tokens: number | undefined,
  ) {}

  /** The upstream call goes on while one of the calls that follow needs its answer. */
  get signal(): CallSignal {
    return this.flight ?? this.call.signal;
  }

  /** Ends the call without an answer. What was charged before stays charged. */
  fail(error: unknown): void {
    this.reservation.release();
    const { flight } = this;
    if (flight && !flight.goesOn) flight.finish(failureOf(this.call, this.isAnswered, error));
  }
}
