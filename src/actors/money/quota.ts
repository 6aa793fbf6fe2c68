import { AdmissionQueue, type AdmissionRequest, type WaitingCall } from './admission-queue.ts';
import { Grant, GrantFencedError } from './grant.ts';
import type { QuotaDeps } from './quota-deps.ts';
import {
  type LimitedBy,
  ledgerUnavailableError,
  moneyInFlightError,
  moneySpentError,
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

/** Hints that money is free may be lost, so a request for money is repeated after this time. */
const RETRY_MS = 100;

/**
 * The quota actor of one key on this replica: its machine, and the commands that it sends to the
 * lane, the queue that commits ledger commands. A call that the grant covers is admitted
 * synchronously. Other calls wait for the ledger.
 */
export class QuotaActor implements ReservationOwner {
  private readonly machine: QuotaMachine;
  private readonly grant: Grant;
  private readonly waiting: AdmissionQueue;
  private readonly recall = { requested: 0, acked: 0 };
  private readonly spend = new RecentSpend();
  /** The unused nano-USD above the slack (the money for later calls), as of the last sweep. */
  private surplus = 0;
  private syncing: Promise<void> | undefined;
  private wake: (() => void) | undefined;
  private lastLimitedBy: LimitedBy = 'key';
  /** How many charges wait for their commit. */
  private unsettled = 0;
  private refillAmount = 0;
  private isCloseRequested = false;

  constructor(
    readonly key_id: string,
    readonly organization_id: string,
    private readonly deps: QuotaDeps,
  ) {
    const { onEvent } = deps;
    this.machine = new QuotaMachine(onEvent && ((event, state) => onEvent(key_id, event, state)));
    this.waiting = new AdmissionQueue(deps.clock, () => moneyInFlightError(this.lastLimitedBy));
    this.grant = new Grant(key_id, organization_id, deps);
  }

  get snapshot() {
    return this.machine.snapshot;
  }

  /** Sends the calls that were admitted without an event to the machine, as one sum. */
  sendCalls(): void {
    this.machine.sendCalls();
  }

  /** True if no call is in flight, none waits, and no charge waits for its commit. */
  get isIdle(): boolean {
    return this.machine.sums.in_flight === 0 && this.waiting.size === 0 && this.unsettled === 0;
  }

  /** True if the actor holds no money of the key, so it may be passivated. */
  get isEmpty(): boolean {
    return this.isIdle && !this.syncing && this.grant.granted === 0;
  }

  /**
   * Admits a call at once if the grant covers it. Returns undefined if the call must wait with
   * `reserve`. Throws WeirError if the key may not make calls or its money is spent.
   */
  tryReserve(amount: number): Reservation | undefined {
    if (!this.deps.mayAdmit()) throw ledgerUnavailableError();
    this.spend.recordCall();
    let verdict = this.machine.reserve(amount);
    if (verdict.type === 'refused' && verdict.reason !== 'exhausted') {
      // The call was just authenticated with an active key, so the status in the machine is
      // outdated.
      this.machine.send({ type: 'STATUS_CHANGED', status: 'active' });
      verdict = this.machine.reserve(amount);
    }
    if (verdict.type === 'refused') throw quotaError(verdict.reason, this.lastLimitedBy);
    if (verdict.type !== 'admitted') return undefined;
    this.refillAhead(amount);
    return new Reservation(this, this.grant.id, amount);
  }

  /**
   * Admits a call, with `request.amount` or, if so much cannot become free, at least with
   * `request.minimum()`. The call may wait for the ledger and, near the cap, for calls in flight.
   * Throws WeirError: `quota_exceeded` or `insufficient_balance` if all money is spent,
   * `quota_in_flight` or `balance_in_flight` if calls in flight hold the money, an error for the
   * key's status, or `service_unavailable`. Throws the signal's reason if the client left.
   */
  async reserve(request: AdmissionRequest): Promise<Reservation> {
    const admitted = this.tryReserve(request.amount);
    if (admitted) return admitted;
    const amount = await this.enqueue('RESERVE', request);
    return new Reservation(this, this.grant.id, amount);
  }

  /**
   * Reserves more money for a call in flight. Returns the added nano-USD, which may be less than
   * requested; 0 = nothing was added.
   */
  async extend(grant_id: string, request: AdmissionRequest): Promise<number> {
    if (grant_id !== this.grant.id || !this.deps.mayAdmit()) return 0;
    if (this.machine.send({ type: 'EXTEND', amount: request.amount }).type === 'admitted') {
      this.refillAhead(request.amount);
      return request.amount;
    }
    return this.enqueue('EXTEND', request).catch(() => 0);
  }

  /** Charges a call. Resolves after the commit with the amounts of the usage line. */
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
    this.onSumsChanged();
    try {
      const answer = await committed;
      if (answer.type !== 'settled')
        throw new Error(`the ledger answered a charge with ${answer.type}`);
      return { charged: answer.charged, overrun: answer.overrun };
    } catch (error) {
      // The database rejected the usage line. This is a defect, and nobody is charged.
      if (grant_id === this.grant.id) this.machine.send({ type: 'UNBOOKED', amount: charge });
      throw error;
    } finally {
      this.unsettled -= 1;
      if (this.waiting.size > 0) this.wake?.();
    }
  }

  /** Releases the reservation of a call that delivered nothing. */
  release(grant_id: string, reserved: number): void {
    if (grant_id !== this.grant.id) return;
    this.machine.release(reserved);
    this.onSumsChanged();
  }

  /** Called on recall `seq`: another replica or key of the organization needs the unused money. */
  onRecall(seq: number): void {
    this.recall.requested = Math.max(this.recall.requested, seq);
    this.syncWithLedger();
  }

  /** Called on a hint that money of the organization was returned, released or added. */
  onMoneyReturned(): void {
    this.machine.send({ type: 'LIMIT_CHANGED' });
    this.wake?.();
  }

  /** Called when the status, cap or expiry of the key's row changed. */
  onKeyChanged(status: 'active' | 'inactive' | 'suspended' | 'revoked'): void {
    this.machine.send({ type: 'STATUS_CHANGED', status });
    this.onMoneyReturned();
    // The unused money was granted under the old cap, so it is returned. Later calls request money
    // under the new cap.
    this.isCloseRequested = true;
    this.syncWithLedger();
  }

  /** Called at intervals. An idle actor returns its grant. A busy actor returns its surplus. */
  sweep(elapsedMs: number): void {
    // A hint that money is free may have been lost, so a sweep ends the state `exhausted` too.
    this.machine.send({ type: 'LIMIT_CHANGED' });
    const slack = this.spend.slackFor(0) * 2;
    const { idle, sums } = this.machine;
    this.surplus = idle > slack * 2 ? idle - slack : 0;
    const hadCalls = this.spend.sweep(elapsedMs, sums.reserved);
    if (!hadCalls && this.isIdle && this.grant.granted > 0) this.isCloseRequested = true;
    if (this.isCloseRequested || this.surplus > 0) this.syncWithLedger();
  }

  /** Returns all unused money; resolves after the commit. */
  async close(): Promise<void> {
    this.isCloseRequested = true;
    // A sync that is just ending does not see `isCloseRequested`, so the loop starts another sync.
    while (this.isCloseRequested) {
      this.syncWithLedger();
      await this.syncing;
    }
  }

  /** Called when this replica was declared dead. Calls in flight still charge the closed grant. */
  fence(): void {
    this.replaceGrant();
    this.waiting.rejectAll(ledgerUnavailableError());
    this.wake?.();
  }

  private chargeLocally(grant_id: string, reserved: number, actual: number) {
    if (grant_id === this.grant.id) return this.machine.settle(reserved, actual);
    const charge = Math.min(actual, reserved);
    return { charge, overrun: actual - charge };
  }

  private enqueue(event: 'RESERVE' | 'EXTEND', request: AdmissionRequest): Promise<number> {
    const admitted = this.waiting.push(event, request);
    this.syncWithLedger();
    return admitted;
  }

  /** Admits each waiting call that the grant covers now, in order. */
  private admitWaiting(): void {
    for (const waiter of this.waiting.all()) {
      // A charge frees money for one or two waiting calls. Sending an event for each of the others
      // would cost far more than the charge, so calls that the grant cannot cover are skipped.
      if (this.machine.isOpen() && waiter.amount > this.machine.idle) continue;
      const verdict = this.machine.send({ type: waiter.event, amount: waiter.amount });
      if (verdict.type === 'admitted') waiter.admit(waiter.amount);
      else if (verdict.type === 'refused')
        waiter.reject(quotaError(verdict.reason, this.lastLimitedBy));
    }
  }

  private onSumsChanged(): void {
    if (this.waiting.size > 0) {
      this.admitWaiting();
      this.wake?.();
    } else if (this.returnableAmount() > 0) this.syncWithLedger();
  }

  private refillAhead(amount: number): void {
    this.spend.recordReserved(this.machine.sums.reserved);
    if (!this.machine.isOpen('ample')) return;
    const slack = this.spend.slackFor(amount);
    if (this.machine.idle * 4 >= slack) return;
    this.machine.send({ type: 'REFILL' });
    this.refillAmount = slack;
    this.syncWithLedger();
  }

  /** The unused nano-USD to return now: other actors wait for it, or the key should not keep it. */
  private returnableAmount(): number {
    const idle = this.machine.idle;
    if (this.isCloseRequested || this.recall.requested > this.recall.acked) return idle;
    if (this.waiting.size > 0) return 0;
    if (this.machine.isOpen('exact')) return idle;
    return Math.min(idle, this.surplus);
  }

  /** Starts `runSync` unless it runs, so that only one command at a time changes the grant. */
  private syncWithLedger(): void {
    this.wake?.();
    this.syncing ??= this.runSync()
      .catch((error) => this.onLedgerError(error))
      .finally(() => {
        this.syncing = undefined;
        if (this.waiting.size > 0) this.syncWithLedger();
      });
  }

  private onLedgerError(error: unknown): void {
    if (error instanceof GrantFencedError) {
      this.deps.onFenced();
      this.fence();
    } else this.waiting.rejectAll(error);
  }

  /** Sends commands to the lane until nothing is left to return or to request. */
  private async runSync(): Promise<void> {
    let recallSeq: number | null = null;
    for (;;) {
      const waiter = this.waiting.first;
      if (
        this.recall.requested > this.recall.acked ||
        this.isCloseRequested ||
        this.returnableAmount() > 0
      ) {
        await this.returnUnused();
      } else if (waiter) {
        recallSeq = await this.requestGrantFor(waiter, recallSeq);
      } else if (this.refillAmount > 0) {
        const want = this.refillAmount;
        this.refillAmount = 0;
        this.applyGrant(await this.grant.request(0, want, null));
      } else return;
    }
  }

  /** Requests money for the first waiting call. Returns the number of a started recall, or null. */
  private async requestGrantFor(
    waiter: WaitingCall,
    recallSeq: number | null,
  ): Promise<number | null> {
    const missing = Math.max(0, waiter.amount - this.machine.idle);
    const want = Math.max(missing, this.waiting.totalAmount, this.spend.slackFor(waiter.amount));
    const answer = await this.grant.request(missing, want, recallSeq);
    switch (answer.type) {
      case 'contended':
        await this.waitForChange();
        return answer.recall_seq;
      case 'short':
        await this.admitWithLess(waiter, answer);
        return null;
      case 'key_unusable':
        if (answer.status === 'expired') this.machine.send({ type: 'EXPIRED' });
        else this.machine.send({ type: 'STATUS_CHANGED', status: answer.status });
        this.waiting.rejectAll(quotaError(answer.status, this.lastLimitedBy));
        return null;
      default:
        this.applyGrant(answer);
        return null;
    }
  }

  /**
   * Called if the full amount is not free. If money in use may become free, waits for a change.
   * Otherwise admits the call with less money, or refuses it.
   */
  private async admitWithLess(
    waiter: WaitingCall,
    short: { bound: LimitedBy; free: number; elsewhere: number },
  ): Promise<void> {
    this.lastLimitedBy = short.bound;
    const hasOtherCalls = this.machine.sums.in_flight > (waiter.event === 'EXTEND' ? 1 : 0);
    if (short.elsewhere > 0 || hasOtherCalls || this.unsettled > 0) {
      this.machine.send({ type: 'REFUSED', gone: false });
      return this.waitForChange();
    }
    const left = this.machine.idle + short.free;
    const minimum = waiter.minimum();
    if (left === 0 || left < minimum) {
      this.machine.send({ type: 'REFUSED', gone: left === 0 });
      return waiter.reject(moneySpentError(short.bound));
    }
    if (short.free > 0) this.applyGrant(await this.grant.request(short.free, short.free, null));
    const amount = Math.min(waiter.amount, this.machine.idle);
    if (amount < minimum || amount === 0 || !this.waiting.has(waiter)) return;
    if (this.machine.send({ type: waiter.event, amount }).type === 'admitted') waiter.admit(amount);
  }

  private async returnUnused(): Promise<void> {
    const { requested } = this.recall;
    const isRecalled = requested > this.recall.acked;
    const close = this.isCloseRequested && this.isIdle;
    const keep = this.machine.idle - this.returnableAmount();
    this.isCloseRequested = false;
    this.surplus = 0;
    // A pending refill was meant for earlier calls, so returning money cancels it.
    this.refillAmount = 0;
    const verdict = this.machine.send(isRecalled ? { type: 'RECALLED' } : { type: 'SHRINK', keep });
    const amount = verdict.type === 'returned' ? verdict.amount : 0;
    if (this.grant.granted > 0 && (await this.grant.return(amount, requested, close))) {
      this.replaceGrant();
    }
    this.recall.acked = Math.max(this.recall.acked, requested);
  }

  private applyGrant(answer: { type: string; granted?: number; exact?: boolean }): void {
    if (answer.type !== 'granted' || answer.granted === undefined) {
      this.machine.send({ type: 'REFUSED', gone: false });
      return;
    }
    this.machine.send({ type: 'GRANTED', granted: answer.granted, exact: answer.exact ?? true });
    this.admitWaiting();
  }

  /** Resolves when `wake` is called, or after `RETRY_MS`, because hints may be lost. */
  private waitForChange(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        cancel();
        this.wake = undefined;
        resolve();
      };
      const cancel = this.deps.clock.after(RETRY_MS, done);
      this.wake = done;
    });
  }

  private replaceGrant(): void {
    this.grant.replace();
    this.machine.send({ type: 'REPLACED' });
  }
}
