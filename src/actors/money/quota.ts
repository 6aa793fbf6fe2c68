import type { OrganizationStatus } from '../../../db/accounts/organizations.ts';
import type { Tags } from '../../../db/budgets/tags.ts';
import type { WeirError } from '../../errors/weir-error.ts';
import type { QuotaRefusal } from '../../machines/quota.ts';
import { AdmissionQueue, type AdmissionRequest, DAY_ENDED } from './admission-queue.ts';
import type { Grant, HeldGrant } from './grant.ts';
import { GrantSync } from './grant-sync.ts';
import type { LedgerAnswer, ReachedBudget, UnusableStatus } from './ledger-commands.ts';
import type { QuotaDeps } from './quota-deps.ts';
import { ledgerUnavailableError, moneyInFlightError, refusedError } from './quota-errors.ts';
import { QuotaMachine } from './quota-machine.ts';
import { quotaName } from './quota-name.ts';
import { RecentSpend } from './recent-spend.ts';
import {
  type Consumption,
  chargedLine,
  NONE_REACHED,
  Reservation,
  type ReservationOwner,
  type Settlement,
} from './reservation.ts';

/**
 * The quota actor of one key on this replica, for calls with the same budgeted tags: its machine, its charges, and its exchange with the
 * ledger. A call that the grant covers is admitted synchronously. Other calls wait for the ledger.
 */
export class QuotaActor implements ReservationOwner {
  /** The name of the actor for observers. It shows that the calls have tags, but not which. */
  readonly name: string;
  readonly machine: QuotaMachine;
  readonly waiting: AdmissionQueue;
  private readonly sync: GrantSync;
  /** How many charges wait for their commit. */
  private unsettled = 0;
  /** While the organization is not active, the machine is in its state `suspended`. */
  private organization_status: OrganizationStatus = 'active';
  private hasRetired = false;

  /**
   * `replace` retires an actor whose day has ended, and returns the present actor of the key. `spend` is the
   * recent spend of the key. `tags` are the tags of its calls that have budgets.
   */
  constructor(
    readonly key_id: string,
    readonly organization_id: string,
    private readonly deps: QuotaDeps,
    private readonly replace: (actor: QuotaActor) => QuotaActor,
    ringLimit?: () => number,
    readonly spend = new RecentSpend(),
    readonly tags: Tags | undefined = undefined,
  ) {
    this.name = quotaName(key_id, tags);
    const { onEvent, clock } = deps;
    this.machine = new QuotaMachine(
      // The present actor of the key is observed, and no retired one.
      onEvent && ((event, taken) => this.hasRetired || onEvent(this, event, taken)),
      () => clock.now(),
      ringLimit,
    );
    this.waiting = new AdmissionQueue(deps.clock, () =>
      moneyInFlightError(this.sync.lastLimitedBy),
    );
    this.sync = new GrantSync(this, deps);
  }

  get snapshot() {
    return this.machine.snapshot;
  }

  /** Reports the calls that were admitted since the last event to the machine, as one event. */
  sendCalls(): void {
    this.machine.sendCalls();
  }

  /** True if no call is in flight, none waits, and no charge waits for its commit. */
  get isIdle(): boolean {
    return this.machine.sums.in_flight === 0 && this.waiting.size === 0 && this.unsettled === 0;
  }

  get isRetired(): boolean {
    return this.hasRetired;
  }

  /** True while a charge waits for its commit. */
  get hasUnsettled(): boolean {
    return this.unsettled > 0;
  }

  /** True if the actor holds no money of the key, so it may be passivated. */
  get isEmpty(): boolean {
    return this.isIdle && this.sync.isEmpty;
  }

  /** The grant's row as this actor believes it to be. */
  get heldGrant(): HeldGrant {
    const { granted, settled } = this.machine.sums;
    const busy = this.sync.isBusy || this.unsettled > 0;
    return { grant_id: this.sync.current.id, granted, settled, busy };
  }

  /**
   * Admits a call at once if the grant covers it. Returns undefined if the call must wait with
   * `reserve`. Throws WeirError if the key may not make calls or its money is spent. `call_id` is the
   * request's UUID, for the actor's history.
   */
  tryReserve(amount: number, call_id?: string): Reservation | undefined {
    return this.present.tryReserveHere(amount, call_id);
  }

  /**
   * The actor of the key whose grant is of the present day. When the day ends, another one takes the place of
   * this one, which stays until its calls have ended.
   */
  private get present(): QuotaActor {
    const hasEnded = this.hasRetired || this.deps.clock.now() >= this.sync.dayEndsAt;
    return hasEnded ? this.replace(this) : this;
  }

  private tryReserveHere(amount: number, call_id?: string): Reservation | undefined {
    if (!this.deps.mayAdmit()) throw ledgerUnavailableError();
    this.spend.recordCall();
    let verdict = this.machine.reserve(amount, call_id);
    if (verdict.type === 'refused' && verdict.reason !== 'exhausted') {
      // The call was just authenticated with an active key: the machine's status is outdated.
      this.organization_status = 'active';
      this.machine.send({ type: 'STATUS_CHANGED', status: 'active' });
      verdict = this.machine.reserve(amount, call_id);
    }
    if (verdict.type === 'refused') throw this.errorOf(verdict.reason, amount);
    if (verdict.type !== 'admitted') return undefined;
    this.refillAhead(amount, call_id);
    return new Reservation(this, this.sync.current.id, amount, this.sync.reachedNow);
  }

  /** The soft budgets that the next call will find spent. */
  get spentBudgets(): readonly ReachedBudget[] {
    return this.hasRetired ? NONE_REACHED : this.sync.spentNow;
  }

  /**
   * Reserves `request.amount` for a call and admits it. If this amount cannot become free, reserves
   * less, but at least `request.minimum()`. The call may wait for the ledger and, near the cap, for
   * calls in flight.
   * Throws WeirError: `quota_exceeded` or `insufficient_balance` if all money is spent,
   * `quota_in_flight` or `balance_in_flight` if calls in flight hold the money, an error for the
   * key's status, or `service_unavailable`. Throws the signal's reason if the client left.
   */
  async reserve(request: AdmissionRequest): Promise<Reservation> {
    const actor = this.present;
    const admitted = actor.tryReserveHere(request.amount, request.call_id);
    if (admitted) return admitted;
    try {
      const amount = await actor.enqueue('RESERVE', request);
      return new Reservation(actor, actor.sync.current.id, amount, actor.sync.reachedNow);
    } catch (error) {
      // The call waited when its day ended. It waits for the money of the next day.
      if (error === DAY_ENDED) return actor.reserve(request);
      throw error;
    }
  }

  /** Called when the day of the grant has ended. Calls in flight go on; those that wait move on. */
  retire(): void {
    if (this.hasRetired) return;
    this.hasRetired = true;
    this.waiting.endDay();
    this.sync.requestClose();
  }

  /**
   * Reserves more money for a call in flight. Returns the added nano-USD, which may be less than
   * requested; 0 = nothing was added.
   */
  async extend(grant_id: string, request: AdmissionRequest): Promise<number> {
    if (!this.currentGrant(grant_id) || !this.deps.mayAdmit()) return 0;
    const { amount, call_id } = request;
    if (this.machine.send({ type: 'EXTEND', amount }, call_id).type === 'admitted') {
      this.refillAhead(amount, call_id);
      return amount;
    }
    return this.enqueue('EXTEND', request).catch(() => 0);
  }

  /**
   * Charges a call. What exceeds its reservation is taken from the free money of the key and the
   * organization, and the platform absorbs the rest. If the grant is closed because its replica was
   * declared dead, the platform absorbs the whole amount. Resolves after the commit with the amounts
   * of the usage line. The cap counts `counted`, which is at least `actual`.
   */
  settle(
    grant_id: string,
    reserved: number,
    line: Consumption,
    actual: number,
    counted = actual,
  ): Promise<Settlement> {
    const overrun = counted - reserved;
    const isShort = overrun > this.machine.idle && this.currentGrant(grant_id);
    if (!isShort) return this.charge(grant_id, reserved, line, actual, counted);
    return this.sync
      .coverOverrun(overrun)
      .then((added) => this.charge(grant_id, reserved + added, line, actual, counted));
  }

  /** Releases the reservation of a call that delivered nothing. */
  release(grant_id: string, reserved: number): void {
    if (!this.currentGrant(grant_id)) return;
    this.machine.release(reserved);
    this.onSumsChanged();
  }

  /** Takes back an extension of a call that has ended. */
  takeBack(grant_id: string, extra: number): void {
    if (!this.currentGrant(grant_id)) return;
    this.machine.takeBack(extra);
    this.onSumsChanged();
  }

  /** Called on recall `seq`: another replica or key of the organization needs the unused money. */
  onRecall(seq: number): void {
    this.sync.onRecall(seq);
  }

  /** Called on a hint that money of the organization was returned, released or added. */
  onMoneyReturned(): void {
    this.machine.send({ type: 'LIMIT_CHANGED' });
    this.sync.wake();
  }

  /** Called when the status, cap or expiry of the key's row changed. */
  onKeyChanged(
    status: 'active' | 'inactive' | 'suspended' | 'revoked',
    organization_status: OrganizationStatus = this.organization_status,
  ): void {
    if (organization_status !== 'active') this.onOrganizationChanged(organization_status);
    else {
      this.organization_status = organization_status;
      this.restrict(status);
    }
  }

  private restrict(status: 'active' | 'inactive' | 'suspended' | 'revoked'): void {
    this.machine.send({ type: 'STATUS_CHANGED', status });
    this.onMoneyReturned();
    // The unused money was granted under the old cap, so it is returned. Later calls request money
    // under the new cap.
    this.sync.requestClose();
  }

  /** Called when the status of the organization changed. Calls in flight end and are charged. */
  onOrganizationChanged(status: OrganizationStatus): void {
    const wasActive = this.organization_status === 'active';
    this.organization_status = status;
    if (status !== 'active') this.restrict('suspended');
    else {
      // If the key itself may make no calls, the ledger says so.
      if (!wasActive) this.machine.send({ type: 'STATUS_CHANGED', status });
      this.onMoneyReturned();
    }
  }

  onUnusable(status: UnusableStatus): void {
    if (status === 'expired') this.machine.send({ type: 'EXPIRED' });
    else if (status === 'organization_suspended') this.onOrganizationChanged('suspended');
    else if (status === 'organization_closed') this.onOrganizationChanged('closed');
    else this.machine.send({ type: 'STATUS_CHANGED', status });
  }

  /** Called at intervals. An idle actor returns its grant. A busy actor returns its surplus. */
  sweep(elapsedMs: number): void {
    if (this.hasRetired) {
      this.sync.sweep(0, false);
      return;
    }
    // A hint that money is free may have been lost, so a sweep ends the state `exhausted` too.
    this.machine.send({ type: 'LIMIT_CHANGED' });
    const slack = this.spend.slackFor(0) * 2;
    const { idle, sums } = this.machine;
    const hadCalls = this.spend.sweep(elapsedMs, sums.reserved);
    this.sync.sweep(idle > slack * 2 ? idle - slack : 0, hadCalls);
  }

  /** Returns all unused money; resolves after the commit. */
  close(): Promise<void> {
    return this.sync.close();
  }

  /**
   * Called when the process has registered as a new replica, because the old one was declared dead.
   * Calls in flight still charge the closed grant. A grant that was opened for the new replica
   * stays.
   */
  fence(): void {
    if (this.sync.current.replica_id === this.deps.replica_id()) return;
    this.sync.replaceGrant();
    this.waiting.rejectAll(ledgerUnavailableError());
    this.sync.wake();
  }

  /** Admits each waiting call that the grant covers now, in order. */
  admitWaiting(): void {
    for (const waiter of this.waiting.all()) {
      // A charge frees money for one or two waiting calls. Sending an event for each of the others
      // would cost far more than the charge, so calls that the grant cannot cover are skipped.
      if (this.machine.isOpen() && waiter.amount > this.machine.idle) continue;
      const { event: type, amount, call_id } = waiter;
      const verdict = this.machine.send({ type, amount }, call_id);
      if (verdict.type === 'admitted') waiter.admit(amount);
      else if (verdict.type === 'refused') waiter.reject(this.errorOf(verdict.reason, amount));
    }
  }

  /** Returns the grant if it has this id. Earlier grants are closed, so their sums are final. */
  private currentGrant(id: string): Grant | undefined {
    return this.sync.current.id === id ? this.sync.current : undefined;
  }

  private async charge(
    grant_id: string,
    reserved: number,
    line: Consumption,
    actual: number,
    counted: number,
  ): Promise<Settlement> {
    const grant = this.currentGrant(grant_id);
    // In the grant, a charge is what the cap counts.
    const charge = grant
      ? this.machine.settle(reserved, counted).charge
      : Math.min(counted, reserved);
    this.spend.recordCharge(charge);
    this.unsettled += 1;
    if (grant) grant.unanswered += charge;
    const committed = this.deps.lane.submit({
      type: 'SETTLE',
      line: chargedLine(line, grant_id, actual, charge),
    });
    this.onSumsChanged();
    let answer: LedgerAnswer | undefined;
    try {
      // If the database rejects the usage line, this is a defect, and nobody is charged.
      answer = await committed;
    } finally {
      if (grant) this.onCharged(grant, charge, answer, line.id);
      this.unsettled -= 1;
      if (this.waiting.size > 0) this.sync.wake();
    }
    if (answer.type !== 'settled')
      throw new Error(`the ledger answered a charge with ${answer.type}`);
    return { charged: answer.charged, overrun: answer.overrun };
  }

  /**
   * Corrects the machine's sum of charges to that of the grant's row. The two sums differ if the
   * usage line existed already, or if no usage line was written.
   */
  private onCharged(
    grant: Grant,
    charge: number,
    answer: LedgerAnswer | undefined,
    call_id: string,
  ): void {
    grant.unanswered -= charge;
    if (grant !== this.sync.current) return;
    const { settled } = this.machine.sums;
    let unbooked = charge;
    if (answer?.type === 'settled') {
      if (answer.grant_settled === undefined) return;
      unbooked = settled - (answer.grant_settled + grant.unanswered);
    }
    if (unbooked === 0) return;
    this.machine.send({ type: 'UNBOOKED', amount: unbooked }, call_id);
    this.onSumsChanged();
  }

  private errorOf(reason: QuotaRefusal, amount: number): WeirError {
    return refusedError(reason, this.organization_status, this.sync.lastLimitedBy, amount);
  }

  private enqueue(event: 'RESERVE' | 'EXTEND', request: AdmissionRequest): Promise<number> {
    const admitted = this.waiting.push(event, request);
    this.sync.start();
    return admitted;
  }

  private onSumsChanged(): void {
    if (this.waiting.size > 0) {
      this.admitWaiting();
      this.sync.wake();
    } else this.sync.returnIfNeeded();
  }

  private refillAhead(amount: number, call_id: string | undefined): void {
    this.spend.recordReserved(this.machine.sums.reserved);
    if (this.hasRetired || !this.machine.isOpen('ample')) return;
    const slack = this.spend.slackFor(amount);
    if (this.machine.idle * 4 >= slack) return;
    this.machine.send({ type: 'REFILL' }, call_id);
    this.sync.refill(slack);
  }
}
