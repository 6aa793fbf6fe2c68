import type { Reservation } from '../../actors/money/reservation.ts';
import type { WeirError } from '../../errors/weir-error.ts';
import type { CallSignal } from '../../upstreams/contract.ts';
import { untilAborted } from '../../upstreams/transport/deadlines.ts';
import type { Budget } from '../budget/budget.ts';
import type { Draft, InferenceCall } from '../call.ts';
import { entryIdOf } from './entry.ts';
import type { KeptAnswer } from './kept-answer.ts';

/** A call that waits for the answer of an identical call, and may have to pay it. */
export interface Follower {
  readonly call: InferenceCall;
  readonly reservation: Reservation;
  readonly budget: Budget;
  /** True once the call pays for the answer. */
  isPayer?: boolean;
}

/** What followers get when a flight has ended. */
export type FlightEnd =
  /** `rest` is what completes the stream. */
  | { readonly state: 'answered'; readonly kept: KeptAnswer; readonly rest: string }
  | { readonly state: 'failed'; readonly error?: WeirError };

/** An answer that nobody has paid. */
export interface UnpaidAnswer {
  readonly text: string;
  readonly draft: Draft;
}

/** The part of a look-up that tells which calls are identical. */
export interface FlightLookup {
  readonly sketch: number;
  digest(): string | null;
}

/**
 * One upstream call whose answer several identical calls wait for. It goes on while one of their
 * clients is there: as a signal, it is aborted only when nobody waits for the answer any more. Errors
 * are never shared: a follower of a flight that failed runs on its own.
 */
export class Flight implements CallSignal {
  /** The events that followers may have so far; '' for a whole answer. */
  text = '';
  end: FlightEnd | undefined;
  /** Another flight with the same sketch. */
  next: Flight | undefined;
  /** Returns the events that tell a client that its stream broke off. Set once a stream has begun. */
  writeError: ((error: WeirError, request_id: string) => string) | undefined;
  /** Called when the follower that pays has left. */
  onPayerLeft: (() => void) | undefined;
  /** Nearly all flights have no followers, so this and the next members are made when they are needed. */
  private followers: Set<Follower> | undefined;
  private unpaid: UnpaidAnswer | undefined;
  private change: PromiseWithResolvers<void> | undefined;

  constructor(
    readonly leader: InferenceCall,
    readonly lookup: FlightLookup,
    private readonly onEnd: (flight: Flight) => void,
  ) {}

  get aborted(): boolean {
    return !this.hasFollowers && this.leader.signal.aborted;
  }

  get reason(): unknown {
    return this.leader.signal.reason;
  }

  get hasFollowers(): boolean {
    return this.followers !== undefined && this.followers.size > 0;
  }

  /** True if the call that began the flight needs no answer any more, but another one does. */
  get isAbandoned(): boolean {
    return this.hasFollowers && this.leader.signal.aborted;
  }

  join(follower: Follower): void {
    this.followers ??= new Set();
    this.followers.add(follower);
  }

  leave(follower: Follower): void {
    this.followers?.delete(follower);
    if (follower.isPayer && !this.end) this.onPayerLeft?.();
  }

  /** Returns the follower that pays from now on; undefined if there is none. */
  promote(): Follower | undefined {
    for (const follower of this.followers ?? []) {
      if (follower.isPayer || follower.call.signal.aborted) continue;
      follower.isPayer = true;
      return follower;
    }
    return undefined;
  }

  /** Adds events that followers may have. */
  extend(text: string): void {
    this.text += text;
    this.wake();
  }

  /** Ends the flight. Only the first end has an effect. */
  finish(end: FlightEnd): void {
    if (this.end) return;
    this.end = end;
    this.onEnd(this);
    this.wake();
  }

  /** Offers a whole answer that nobody has paid. The first follower that sees it pays it. */
  handOver(unpaid: UnpaidAnswer): void {
    this.unpaid = unpaid;
    this.wake();
  }

  /** Takes the answer that nobody has paid; undefined if there is none, or another call took it. */
  takeUnpaid(): UnpaidAnswer | undefined {
    const { unpaid } = this;
    this.unpaid = undefined;
    return unpaid;
  }

  /** Resolves at the next change. Rejects with the signal's reason if the signal is aborted. */
  changed(signal: CallSignal): Promise<void> {
    this.change ??= Promise.withResolvers();
    return untilAborted(this.change.promise, signal);
  }

  private wake(): void {
    this.change?.resolve();
    this.change = undefined;
  }
}

/** Returns the hit that a follower is. The entry has the answer of the call that began the flight. */
export function hitOf({ leader }: Flight, cost_nano_usd: number) {
  return { entry_id: entryIdOf(leader.request_id), age_s: 0, cost_nano_usd };
}
