import type { Clock, IdSource } from '../clock.ts';
import { AdmissionQueue, type AdmissionRequest, type WaitingCall } from './admission-queue.ts';
import { Grant, GrantFenced } from './grant.ts';
import type { Lane } from './lane.ts';
import {
  type LimitedBy,
  ledgerUnavailableError,
  moneyGoneError,
  moneyInFlightError,
  quotaError,
} from './quota-errors.ts';
import { QuotaMachine } from './quota-machine.ts';
import { RecentSpend } from './recent-spend.ts';
import {
  type Consumption,
  Reservation,
  type ReservationOwner,
  type Settlement,
} from './reservation.ts';

/** How often a waiting ask is repeated if no hint arrives: hints may be lost, answers may not. */
const ASK_AGAIN_MS = 100;
export interface QuotaDeps {
  lane: Lane;
  clock: Clock;
  ids: IdSource;
  replica_id: () => string;
  /** False while this replica's lease may have ended: nothing new is admitted then. */
  mayAdmit: () => boolean;
  /** The database says that this replica was given up. */
  onFenced: () => void;
}

/**
 * The quota actor: the live machine of one key on this replica, and the shell that talks to the
 * lane for it. Admission inside the grant is synchronous; only when the grant runs dry does a call
 * wait for the ledger.
 */
export class QuotaActor implements ReservationOwner {
  private readonly live = new QuotaMachine();
  private readonly grant: Grant;
  private readonly waiting: AdmissionQueue;
  private readonly recall = { asked: 0, acked: 0 };
  private readonly spend = new RecentSpend();
  /** Idle money beyond all comfort, found by the last sweep. */
  private surplus = 0;
  private talking: Promise<void> | undefined;
  private wake: (() => void) | undefined;
  private lastBound: LimitedBy = 'key';
  /** Charges on their way to the lane. */
  private unsettled = 0;
  private refillWanted = 0;
  private closeWanted = false;

  constructor(
    readonly key_id: string,
    readonly organization_id: string,
    private readonly deps: QuotaDeps,
  ) {
    this.waiting = new AdmissionQueue(deps.clock, () => moneyInFlightError(this.lastBound));
    this.grant = new Grant(key_id, organization_id, deps);
  }

  /** The machine's state and context as they are now. */
  get snapshot() {
    return this.live.snapshot;
  }

  /** Nothing in flight, nothing waiting, nothing on its way to the lane. */
  get idle(): boolean {
    return this.live.sums.in_flight === 0 && this.waiting.size === 0 && this.unsettled === 0;
  }

  /** Nothing of the key's money is set aside on this replica: the actor may be forgotten. */
  get empty(): boolean {
    return this.idle && !this.talking && this.grant.granted === 0;
  }

  /**
   * Admits a call at once if the grant covers it; undefined = it has to wait (`reserve`).
   * Throws WeirError if the key is in no state to be admitted.
   */
  tryReserve(amount: number): Reservation | undefined {
    if (!this.deps.mayAdmit()) throw ledgerUnavailableError();
    this.spend.recordCall();
    let verdict = this.live.reserve(amount);
    if (verdict.type === 'refused' && verdict.reason !== 'exhausted') {
      // Whoever comes here was just authenticated with an active key: what this actor heard is older.
      this.live.send({ type: 'STATUS_CHANGED', status: 'active' });
      verdict = this.live.reserve(amount);
    }
    if (verdict.type === 'refused') throw quotaError(verdict.reason, this.lastBound);
    if (verdict.type !== 'admitted') return undefined;
    this.refillAhead(amount);
    return new Reservation(this, this.grant.id, amount);
  }

  /**
   * Admits a call, waiting for the ledger and, near the cap, for calls in flight.
   * Throws WeirError: `quota_exceeded` or `insufficient_balance` when the money is gone,
   * `quota_in_flight` or `balance_in_flight` when only calls in flight hold it, the key's status,
   * or `service_unavailable`; the signal's reason when the client left.
   */
  async reserve(ask: AdmissionRequest): Promise<Reservation> {
    const admitted = this.tryReserve(ask.amount);
    if (admitted) return admitted;
    const amount = await this.wait('RESERVE', ask);
    return new Reservation(this, this.grant.id, amount);
  }

  async extend(grant_id: string, ask: AdmissionRequest): Promise<number> {
    if (grant_id !== this.grant.id || !this.deps.mayAdmit()) return 0;
    if (this.live.send({ type: 'EXTEND', amount: ask.amount }).type === 'admitted') {
      this.refillAhead(ask.amount);
      return ask.amount;
    }
    return this.wait('EXTEND', ask).catch(() => 0);
  }

  async settle(
    grant_id: string,
    reserved: number,
    line: Consumption,
    actual: number,
  ): Promise<Settlement> {
    const { charge, overrun } = this.chargeLocally(grant_id, reserved, actual);
    this.spend.recordCharge(charge);
    this.unsettled += 1;
    const committed = this.deps.lane.submit({
      type: 'SETTLE',
      line: { ...line, grant_id: grant_id, charged_nano_usd: charge, overrun_nano_usd: overrun },
    });
    this.moneyMoved();
    try {
      const answer = await committed;
      if (answer.type !== 'settled') throw new Error(`a charge was answered with ${answer.type}`);
      return { charged: answer.charged, overrun: answer.overrun };
    } catch (error) {
      // Refused by the database for what it is, not for the moment: a defect, and nobody's money.
      if (grant_id === this.grant.id) this.live.send({ type: 'UNBOOKED', amount: charge });
      throw error;
    } finally {
      this.unsettled -= 1;
      if (this.waiting.size > 0) this.wake?.();
    }
  }

  release(grant_id: string, reserved: number): void {
    if (grant_id !== this.grant.id) return;
    this.live.release(reserved);
    this.moneyMoved();
  }

  /** Another replica, or another key of the organization, needs what lies idle here. */
  onRecall(seq: number): void {
    this.recall.asked = Math.max(this.recall.asked, seq);
    this.talk();
  }

  /** A hint that money came back, or came in, somewhere in the organization. */
  onMoneyReturned(): void {
    this.live.send({ type: 'LIMIT_CHANGED' });
    this.wake?.();
  }

  /** The key's row changed: status, cap or expiry. */
  onKeyChanged(status: 'active' | 'inactive' | 'suspended' | 'revoked'): void {
    this.live.send({ type: 'STATUS_CHANGED', status });
    this.onMoneyReturned();
    // What lies idle was granted under the old cap: it goes back, and is asked for anew.
    this.closeWanted = true;
    this.talk();
  }

  /** Called now and then: an idle key gives its grant back, a busy one what it does not need. */
  sweep(elapsedMs: number): void {
    // A hint that the money came back may have been lost: nobody stays exhausted for longer.
    this.live.send({ type: 'LIMIT_CHANGED' });
    const comfort = this.spend.slackFor(0) * 2;
    const { idle, sums } = this.live;
    this.surplus = idle > comfort * 2 ? idle - comfort : 0;
    const touched = this.spend.sweep(elapsedMs, sums.reserved);
    if (!touched && this.idle && this.grant.granted > 0) this.closeWanted = true;
    if (this.closeWanted || this.surplus > 0) this.talk();
  }

  /** Gives everything back that is not in flight; resolves when the row says so. */
  async close(): Promise<void> {
    this.closeWanted = true;
    // A conversation that is just ending does not see the flag; a second one does.
    while (this.closeWanted) {
      this.talk();
      await this.talking;
    }
  }

  /** The replica was given up, and with it its grants. Calls in flight settle against closed rows. */
  fence(): void {
    this.startOver();
    this.waiting.rejectAll(ledgerUnavailableError());
    this.wake?.();
  }

  private chargeLocally(grant_id: string, reserved: number, actual: number) {
    if (grant_id === this.grant.id) return this.live.settle(reserved, actual);
    const charge = Math.min(actual, reserved);
    return { charge, overrun: actual - charge };
  }

  private wait(event: 'RESERVE' | 'EXTEND', ask: AdmissionRequest): Promise<number> {
    const admitted = this.waiting.push(event, ask);
    this.talk();
    return admitted;
  }

  /** Every waiting call that fits now is admitted, in order of arrival. */
  private admitWaiting(): void {
    for (const waiter of this.waiting.all()) {
      // Each charge makes room for one or two: asking the machine about all the others would cost it
      // a multiple of all the rest.
      if (this.live.isOpen() && waiter.amount > this.live.idle) continue;
      const verdict = this.live.send({ type: waiter.event, amount: waiter.amount });
      if (verdict.type === 'admitted') waiter.admit(waiter.amount);
      else if (verdict.type === 'refused')
        waiter.reject(quotaError(verdict.reason, this.lastBound));
    }
  }

  private moneyMoved(): void {
    if (this.waiting.size > 0) {
      this.admitWaiting();
      this.wake?.();
    } else if (this.excess() > 0) this.talk();
  }

  private refillAhead(amount: number): void {
    this.spend.recordReserved(this.live.sums.reserved);
    if (!this.live.isOpen('ample')) return;
    const slack = this.spend.slackFor(amount);
    if (this.live.idle * 4 >= slack) return;
    this.live.send({ type: 'REFILL' });
    this.refillWanted = slack;
    this.talk();
  }

  /** Idle money that others wait for, or that a key near its cap must not keep. */
  private excess(): number {
    const idle = this.live.idle;
    if (this.closeWanted || this.recall.asked > this.recall.acked) return idle;
    if (this.waiting.size > 0) return 0;
    if (this.live.isOpen('exact')) return idle;
    return Math.min(idle, this.surplus);
  }

  /** One conversation with the lane at a time, so the grant always knows what its row says. */
  private talk(): void {
    this.wake?.();
    this.talking ??= this.converse()
      .catch((error) => this.lostTheLedger(error))
      .finally(() => {
        this.talking = undefined;
        if (this.waiting.size > 0) this.talk();
      });
  }

  private lostTheLedger(error: unknown): void {
    if (error instanceof GrantFenced) {
      this.deps.onFenced();
      this.fence();
    } else this.waiting.rejectAll(error);
  }

  private async converse(): Promise<void> {
    let recallSeq: number | null = null;
    for (;;) {
      const waiter = this.waiting.first;
      if (this.recall.asked > this.recall.acked || this.closeWanted || this.excess() > 0) {
        await this.giveBack();
      } else if (waiter) {
        recallSeq = await this.askFor(waiter, recallSeq);
      } else if (this.refillWanted > 0) {
        const want = this.refillWanted;
        this.refillWanted = 0;
        this.take(await this.grant.request(0, want, null));
      } else return;
    }
  }

  /** Asks for the call that waits longest; answers the recall that is under way, if any. */
  private async askFor(waiter: WaitingCall, recallSeq: number | null): Promise<number | null> {
    const missing = Math.max(0, waiter.amount - this.live.idle);
    const want = Math.max(missing, this.waiting.total, this.spend.slackFor(waiter.amount));
    const answer = await this.grant.request(missing, want, recallSeq);
    switch (answer.type) {
      case 'contended':
        await this.nap();
        return answer.recall_seq;
      case 'short':
        await this.settleForLess(waiter, answer);
        return null;
      case 'key_unusable':
        if (answer.status === 'expired') this.live.send({ type: 'EXPIRED' });
        else this.live.send({ type: 'STATUS_CHANGED', status: answer.status });
        this.waiting.rejectAll(quotaError(answer.status, this.lastBound));
        return null;
      default:
        this.take(answer);
        return null;
    }
  }

  /** The whole amount is not there: wait for calls in flight, run with what is left, or refuse. */
  private async settleForLess(
    waiter: WaitingCall,
    short: { bound: LimitedBy; free: number; elsewhere: number },
  ): Promise<void> {
    this.lastBound = short.bound;
    const othersHere = this.live.sums.in_flight > (waiter.event === 'EXTEND' ? 1 : 0);
    if (short.elsewhere > 0 || othersHere || this.unsettled > 0) {
      this.live.send({ type: 'REFUSED', gone: false });
      return this.nap();
    }
    const left = this.live.idle + short.free;
    const minimum = waiter.minimum();
    if (left === 0 || left < minimum) {
      this.live.send({ type: 'REFUSED', gone: left === 0 });
      return waiter.reject(moneyGoneError(short.bound));
    }
    if (short.free > 0) this.take(await this.grant.request(short.free, short.free, null));
    const amount = Math.min(waiter.amount, this.live.idle);
    if (amount < minimum || amount === 0 || !this.waiting.has(waiter)) return;
    if (this.live.send({ type: waiter.event, amount }).type === 'admitted') waiter.admit(amount);
  }

  private async giveBack(): Promise<void> {
    const { asked } = this.recall;
    const recalled = asked > this.recall.acked;
    const close = this.closeWanted && this.idle;
    const keep = this.live.idle - this.excess();
    this.closeWanted = false;
    this.surplus = 0;
    // Who gives back does not refill: that was for calls that came before.
    this.refillWanted = 0;
    const verdict = this.live.send(recalled ? { type: 'RECALLED' } : { type: 'SHRINK', keep });
    const amount = verdict.type === 'returned' ? verdict.amount : 0;
    if (this.grant.granted > 0 && (await this.grant.return(amount, asked, close))) {
      this.startOver();
    }
    this.recall.acked = Math.max(this.recall.acked, asked);
  }

  private take(answer: { type: string; granted?: number; exact?: boolean }): void {
    if (answer.type !== 'granted' || answer.granted === undefined) {
      this.live.send({ type: 'REFUSED', gone: false });
      return;
    }
    this.live.send({ type: 'GRANTED', granted: answer.granted, exact: answer.exact ?? true });
    this.admitWaiting();
  }

  /** Sleeps until something changes, or for a moment: hints may be lost. */
  private nap(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        cancel();
        this.wake = undefined;
        resolve();
      };
      const cancel = this.deps.clock.after(ASK_AGAIN_MS, done);
      this.wake = done;
    });
  }

  private startOver(): void {
    this.grant.replace();
    this.live.send({ type: 'REPLACED' });
  }
}
