import type { ListenableSignal } from '../../actors/money/admission-queue.ts';
import type { Reservation, Settlement } from '../../actors/money/reservation.ts';
import type { WeirError } from '../../errors/weir-error.ts';
import type { AnswerUsage } from '../../protocols/token-usage.ts';
import type { CallSignal } from '../../upstreams/contract.ts';
import type { TextBuilder } from '../../upstreams/stream/grown-text.ts';
import { untilAborted } from '../../upstreams/transport/deadlines.ts';
import { entryIdOf } from './entry.ts';
import type { KeptAnswer } from './kept-answer.ts';

/** The part of a call that a flight needs. */
export interface FlightCall {
  readonly request_id: string;
  readonly signal: ListenableSignal;
}

/** A call that waits for the answer of an identical call, and may have to pay it. */
export interface Follower<Call extends FlightCall> {
  readonly call: Call;
  readonly reservation: Reservation;
  /** True once the call pays for the answer. */
  isPayer?: boolean;
}

/** The stream of the call that began a flight. */
export interface LedStream {
  /** What was sent so far. Undefined before the first events. */
  readonly sent: TextBuilder | undefined;
  /** Returns the events that tell a client that its stream broke off. */
  errorEvents(error: WeirError, request_id: string): string;
  /** Called when the follower that pays has left. */
  onPayerLeft(): void;
}

/** What followers get when a flight has ended. */
export type FlightEnd =
  /** `rest` is what completes the stream. */
  | { readonly state: 'answered'; readonly kept: KeptAnswer; readonly rest: string }
  /** `error` is set if every identical call could have got it: the upstream failed. */
  | { readonly state: 'failed'; readonly error?: unknown };

/** The end of a flight without followers: nobody asks how it ended. */
const UNSEEN: FlightEnd = { state: 'failed' };

/** A whole answer that nobody has paid. */
export interface UnpaidAnswer<Member> {
  /** The answer as the client that pays gets it. */
  readonly text: string;
  /** Null for calls whose answers have no usage of their own. */
  readonly usage: AnswerUsage | null;
  /** True if the answer is fit to be sent again later. */
  readonly is_fit: boolean;
  /** Charges a call; resolves when the charge is committed. */
  readonly pay: (member: Member) => Promise<Settlement>;
}

/** The part of a look-up that tells which calls are identical. */
export interface FlightLookup {
  readonly sketch: number;
  readonly organization_id: string;
  digest(): string | null;
}

/**
 * One upstream call whose answer several identical calls wait for. It goes on while one of their
 * clients is there: as a signal, it is aborted only when nobody waits for the answer any more.
 */
export class Flight<Member extends Follower<FlightCall> = Follower<FlightCall>>
  implements CallSignal
{
  /** Undefined for a whole answer, and before the stream has begun. */
  stream: LedStream | undefined;
  /** What the stream had sent when it was last read. */
  private read = '';
  end: FlightEnd | undefined;
  /** True if the answer goes on for the followers, without the call that began the flight. */
  goesOn = false;
  /** The call that paid the whole answer, if it is not the one that began the flight. */
  payer_request_id: string | undefined;
  /** Another flight with the same sketch. */
  next: Flight<Member> | undefined;
  /** Nearly all flights have no followers, so this and the next members are made when they are needed. */
  private followers: Set<Member> | undefined;
  private unpaid: UnpaidAnswer<Member> | undefined;
  private change: PromiseWithResolvers<void> | undefined;

  /** The signal of the call that began the flight. It is read for each wait of the call, so it is not looked up there. */
  private readonly leader_signal: ListenableSignal;

  constructor(
    readonly leader: Member['call'],
    readonly lookup: FlightLookup,
    private readonly flights: { remove(flight: Flight<Member>): void },
  ) {
    this.leader_signal = leader.signal;
  }

  /** The events that followers may have so far; '' for a whole answer. */
  get text(): string {
    const sent = this.stream?.sent;
    if (sent && sent.length > this.read.length) this.read = sent.toString();
    return this.read;
  }

  get aborted(): boolean {
    return !this.hasFollowers && this.leader_signal.aborted;
  }

  get reason(): unknown {
    return this.leader_signal.reason;
  }

  get hasFollowers(): boolean {
    return this.followers !== undefined && this.followers.size > 0;
  }

  /**
   * True if the call that began the flight needs no answer any more, but another one does. The followers come first: nearly
   * no flight has any, and to read the signal of a request costs more than to look for them.
   */
  get isAbandoned(): boolean {
    return this.hasFollowers && this.leader_signal.aborted;
  }

  join(follower: Member): void {
    this.followers ??= new Set();
    this.followers.add(follower);
  }

  leave(follower: Member): void {
    this.followers?.delete(follower);
    if (follower.isPayer && !this.end) this.stream?.onPayerLeft();
    if (this.unpaid && !this.hasFollowers) this.finish({ state: 'failed' });
  }

  /** Returns the follower that pays from now on; undefined if there is none. */
  promote(): Member | undefined {
    for (const follower of this.followers ?? []) {
      if (follower.isPayer || follower.call.signal.aborted) continue;
      follower.isPayer = true;
      return follower;
    }
    return undefined;
  }

  /** Ends the flight. Only the first end has an effect. */
  finish(end: FlightEnd): void {
    if (this.end) return;
    this.end = end;
    // A flight that a collection of young memory finds stays until the next full one, with all that it knows.
    if (!this.hasFollowers) {
      this.end = UNSEEN;
      this.stream = undefined;
    }
    this.flights.remove(this);
    this.wake();
  }

  /** Offers a whole answer that nobody has paid. The first follower that sees it pays it. */
  handOver(unpaid: UnpaidAnswer<Member>): void {
    this.goesOn = true;
    this.unpaid = unpaid;
    this.wake();
  }

  /** Takes the answer that nobody has paid; undefined if there is none, or another call took it. */
  takeUnpaid(): UnpaidAnswer<Member> | undefined {
    const { unpaid } = this;
    this.unpaid = undefined;
    return unpaid;
  }

  /** Resolves at the next change. Rejects with the signal's reason if the signal is aborted. */
  changed(signal: CallSignal): Promise<void> {
    this.change ??= Promise.withResolvers();
    return untilAborted(this.change.promise, signal);
  }

  /** Tells the followers that more was sent, or that the flight has ended. */
  wake(): void {
    this.change?.resolve();
    this.change = undefined;
  }
}

/** Returns the hit that a follower is. The entry has the answer of the call that paid it first. */
export function hitOf(
  { leader, payer_request_id }: Pick<Flight, 'leader' | 'payer_request_id'>,
  cost_nano_usd: number,
) {
  const entry_id = entryIdOf(payer_request_id ?? leader.request_id);
  return { entry_id, age_s: 0, cost_nano_usd };
}

/**
 * Returns the end of a flight whose first call failed. What happened after the upstream had answered,
 * and the end of the call's own signal, is no failure of the upstream.
 */
export function failureOf({ signal }: FlightCall, isAnswered: boolean, error: unknown): FlightEnd {
  const isOwn = isAnswered || (signal.aborted && error === signal.reason);
  return isOwn ? { state: 'failed' } : { state: 'failed', error };
}
