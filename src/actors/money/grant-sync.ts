import type { Tags } from '../../../db/budgets/tags.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { AdmissionQueue, WaitingCall } from './admission-queue.ts';
import { Grant, type GrantAnswer, GrantFencedError } from './grant.ts';
import type { LimitedBy, ReachedBudget, UnusableStatus } from './ledger-commands.ts';
import { Overruns } from './overruns.ts';
import type { QuotaDeps } from './quota-deps.ts';
import { keyStatusError, ledgerUnavailableError, moneySpentError } from './quota-errors.ts';
import type { QuotaMachine } from './quota-machine.ts';
import { type KnownBudget, knownBudgets, NONE_KNOWN, reachedAt } from './reached-budgets.ts';
import type { RecentSpend } from './recent-spend.ts';
import { NONE_REACHED } from './reservation.ts';

/** Hints that money is free may be lost, so a request for money is repeated after this time. */
const RETRY_MS = 100;

/** The parts of a quota actor that the exchange with the ledger reads and changes. */
interface SyncedQuota {
  readonly key_id: string;
  readonly organization_id: string;
  readonly tags: Tags | undefined;
  readonly machine: QuotaMachine;
  readonly waiting: AdmissionQueue;
  readonly spend: RecentSpend;
  /** True if no call is in flight, none waits, and no charge waits for its commit. */
  readonly isIdle: boolean;
  /** True while a charge waits for its commit. */
  readonly hasUnsettled: boolean;
  /** True after the day of the grant ended. Then no call is admitted here any more. */
  readonly isRetired: boolean;
  /** Called if the day of the grant has ended. */
  retire(): void;
  /** Admits each waiting call that the grant covers now. */
  admitWaiting(): void;
  /** Called if the ledger refused money because of the status of the key or the organization. */
  onUnusable(status: UnusableStatus): void;
}

/**
 * Keeps the amount of a grant equal in the quota machine and in the grant's row. It sends commands
 * to the ledger, one at a time, until no money is left to return or to request.
 *
 * Returned money leaves the machine first, so that no call can reserve it. It leaves the row when the
 * ledger executes the command. If the ledger's answer is lost, the next command learns what the row
 * has, and any difference is returned then.
 */
export class GrantSync {
  /** The limit that was too low when money was last short. */
  lastLimitedBy: LimitedBy = 'key';
  /**
   * When the day of the grant ends at the earliest, on the clock of the actor. The ledger counts the time until
   * then after the actor sent its request, so the day never ends earlier.
   */
  dayEndsAt = Number.POSITIVE_INFINITY;
  /** The soft budgets that were exceeded when money was last granted, and when their windows end. */
  private reached: readonly KnownBudget[] = NONE_KNOWN;
  private grant: Grant;
  /**
   * Numbers of recalls. `requested`: the latest recall that reached this actor. `acked`: the latest
   * recall that this actor acknowledged. `started`: the recall that its own request started.
   */
  private readonly recall = { requested: 0, acked: 0, started: null as number | null };
  private readonly overruns: Overruns;
  /** The unused nano-USD above the slack (the money for later calls), as of the last sweep. */
  private surplus = 0;
  private refillAmount = 0;
  private isCloseRequested = false;
  private running: Promise<void> | undefined;
  private wakeUp: (() => void) | undefined;

  constructor(
    private readonly quota: SyncedQuota,
    private readonly deps: QuotaDeps,
  ) {
    this.grant = new Grant(quota.key_id, quota.organization_id, deps, quota.tags);
    this.overruns = new Overruns(deps.clock, quota.machine);
  }

  get current(): Grant {
    return this.grant;
  }

  /** The soft budgets that calls exceed which the grant covers. */
  get reachedNow(): readonly ReachedBudget[] {
    return reachedAt(this.reached, () => this.deps.clock.now());
  }

  /** The soft budgets that stay exceeded until their windows end. None after the day of the grant. */
  get spentNow(): readonly ReachedBudget[] {
    if (this.reached.length === 0) return NONE_REACHED;
    const isToday = this.deps.clock.now() < this.dayEndsAt;
    return this.reachedNow.filter(({ is_spent }) => is_spent && isToday);
  }

  /** True while a command runs, or while the outcome of the last command is unknown. */
  get isBusy(): boolean {
    return this.running !== undefined || this.grant.isUncertain;
  }

  /** True if the row holds no money and no command for it runs. */
  get isEmpty(): boolean {
    return !this.isBusy && this.grant.granted === 0;
  }

  /**
   * Starts to send commands to the ledger, unless a run of this loop is active. If the active run
   * waits for a change, ends its wait.
   */
  start(): void {
    this.wake();
    this.running ??= this.run()
      .catch((error) => this.onError(error))
      .finally(() => {
        this.running = undefined;
        if (this.quota.waiting.size > 0 || this.overruns.first) this.start();
      });
  }

  /** Called if money may have become free. */
  wake(): void {
    this.wakeUp?.();
  }

  /** Requests `amount` more nano-USD, although no call waits. */
  refill(amount: number): void {
    this.refillAmount = amount;
    this.start();
  }

  onRecall(seq: number): void {
    // The limit of a budget may have changed. The next grant knows.
    if (this.reached.length > 0)
      this.reached = this.reached.map((each) => ({ ...each, is_spent: false }));
    this.recall.requested = Math.max(this.recall.requested, seq);
    this.start();
  }

  /** Returns all unused money, and closes the row if no call is in flight. */
  requestClose(): void {
    this.isCloseRequested = true;
    this.start();
  }

  /**
   * Returns all unused money, and closes the row if no call is in flight. Resolves after the ledger's
   * answer, or when the ledger could not be reached.
   */
  async close(): Promise<void> {
    this.isCloseRequested = true;
    // A run that is about to end does not see `isCloseRequested`, so the loop starts another run.
    while (this.isCloseRequested) {
      this.start();
      await this.running;
    }
  }

  /**
   * Called at intervals. Returns the surplus of an actor that had calls, and all money of an actor
   * that had none. Also repeats a return that failed because the ledger could not be reached.
   */
  sweep(surplus: number, hadCalls: boolean): void {
    this.surplus = surplus;
    if (!hadCalls && this.quota.isIdle && !this.isEmpty) this.isCloseRequested = true;
    if (this.mustReturn()) this.start();
  }

  /** Starts to send commands if unused money should be returned. */
  returnIfNeeded(): void {
    if (this.returnableAmount() > 0) this.start();
  }

  /**
   * Extends the reservation of a call whose charge exceeds it by `amount`. Resolves with the added
   * nano-USD, which is less only if the key and the organization have no more free money.
   */
  coverOverrun(amount: number): Promise<number> {
    const covered = this.overruns.push(amount);
    this.start();
    return covered;
  }

  /** Called if the replica of the grant is dead. Calls in flight still charge the closed row. */
  replaceGrant(): void {
    this.reached = NONE_KNOWN;
    const { key_id, organization_id, tags } = this.quota;
    this.grant = new Grant(key_id, organization_id, this.deps, tags);
    this.quota.machine.send({ type: 'REPLACED' });
    // The new grant must not pay for extensions of calls that the old grant covered.
    this.quota.waiting.rejectExtensions(ledgerUnavailableError());
    this.overruns.giveUp();
  }

  private async onError(error: unknown): Promise<void> {
    if (error instanceof GrantFencedError) {
      this.deps.onFenced();
      this.replaceGrant();
      this.quota.waiting.rejectAll(ledgerUnavailableError());
      return;
    }
    this.quota.waiting.rejectAll(error);
    if (!(error instanceof WeirError)) this.overruns.giveUp();
    // The ledger cannot be reached, so no charge is committed now. An overrun waits like its charge.
    else if (this.overruns.first) await this.waitForChange();
  }

  /** The unused nano-USD to return now: a recall requests it, or this actor does not need it. */
  private returnableAmount(): number {
    const { idle } = this.quota.machine;
    if (this.isCloseRequested || this.recall.requested > this.recall.acked) return idle;
    if (this.quota.waiting.size > 0 || this.overruns.first) return 0;
    if (this.quota.isRetired || this.quota.machine.isOpen('exact')) return idle;
    return Math.min(idle, this.surplus);
  }

  /** The nano-USD that have left the machine but not yet the row. */
  private get owed(): number {
    return this.grant.granted - this.quota.machine.sums.granted;
  }

  private mustReturn(): boolean {
    const { requested, acked } = this.recall;
    if (this.isCloseRequested || requested > acked) return true;
    if (this.owed > 0 || this.returnableAmount() > 0) return true;
    // A return also learns the outcome of the last command. So does a request for money. So if money
    // will be requested, no return is needed for this.
    return this.grant.isUncertain && this.quota.waiting.size === 0 && !this.overruns.first;
  }

  private async run(): Promise<void> {
    this.recall.started = null;
    while (this.mustReturn() || this.mustRequest()) {
      const { grant } = this;
      try {
        if (this.mustReturn()) await this.returnUnused();
        else await this.requestMore();
      } catch (error) {
        // If the grant was replaced meanwhile, the error concerns only the old grant. The loop
        // continues with the new grant.
        if (grant === this.grant) throw error;
      }
    }
  }

  private mustRequest(): boolean {
    return this.quota.waiting.size > 0 || !!this.overruns.first || this.refillAmount > 0;
  }

  private async requestMore(): Promise<void> {
    const { first } = this.quota.waiting;
    if (this.overruns.first) return this.requestForOverrun();
    if (first) return this.requestFor(first);
    const want = this.refillAmount;
    this.refillAmount = 0;
    this.applyGrant(await this.request({ need: 0, want, recall_seq: null }));
  }

  /**
   * Sends a GRANT command and returns the ledger's answer. Throws GrantFencedError if the ledger
   * refuses the grant, or if the grant was replaced meanwhile.
   */
  private async request(request: Parameters<Grant['request']>[0]): Promise<GrantAnswer> {
    const { grant } = this;
    const sentAt = this.deps.clock.now();
    const answer = await grant.request(request);
    if (grant !== this.grant) throw new GrantFencedError();
    if (answer.type === 'granted') this.reached = knownBudgets(answer.reached, sentAt);
    if (answer.type === 'granted' || answer.type === 'short') {
      this.dayEndsAt = sentAt + answer.ends_in_ms;
      if (answer.ends_in_ms === 0) this.quota.retire();
    }
    return answer;
  }

  /** Requests money for the first waiting call. */
  private async requestFor(waiter: WaitingCall): Promise<void> {
    const { machine, waiting, spend } = this.quota;
    const need = Math.max(0, waiter.amount - machine.idle);
    const want = Math.max(need, waiting.totalAmount, spend.slackFor(waiter.amount));
    const in_flight = waiter.event === 'EXTEND';
    const answer = await this.request({ need, want, recall_seq: this.recall.started, in_flight });
    this.recall.started = answer.type === 'contended' ? answer.recall_seq : null;
    switch (answer.type) {
      case 'contended':
        // If a recall has reached this actor, it first returns its own unused money. Otherwise it
        // waits for the money of others.
        if (this.recall.requested <= this.recall.acked) await this.waitForChange();
        return;
      case 'short':
        return this.admitWithLess(waiter, answer);
      case 'key_unusable':
        this.quota.onUnusable(answer.status);
        return waiting.rejectAll(keyStatusError(answer.status));
      default:
        this.applyGrant(answer);
    }
  }

  /**
   * Called if the full amount is not free. If money in use may become free, waits for a change.
   * Otherwise admits the call with less money, or refuses it.
   */
  private async admitWithLess(
    waiter: WaitingCall,
    short: Extract<GrantAnswer, { type: 'short' }>,
  ): Promise<void> {
    const { machine, waiting } = this.quota;
    this.lastLimitedBy = short.bound;
    const hasOtherCalls = machine.sums.in_flight > (waiter.event === 'EXTEND' ? 1 : 0);
    if (short.elsewhere > 0 || hasOtherCalls || this.quota.hasUnsettled) {
      machine.send({ type: 'REFUSED', gone: false });
      return this.waitForChange();
    }
    const left = machine.idle + short.free;
    const minimum = waiter.minimum();
    if (left === 0 || left < minimum) {
      machine.send({ type: 'REFUSED', gone: left === 0 });
      return waiter.reject(moneySpentError(short.bound, waiter.amount, left));
    }
    if (short.free > 0) {
      const request = { need: short.free, want: short.free, recall_seq: null };
      const in_flight = waiter.event === 'EXTEND';
      this.applyGrant(await this.request({ ...request, in_flight }));
    }
    const amount = Math.min(waiter.amount, machine.idle);
    if (amount < minimum || amount === 0 || !waiting.has(waiter)) return;
    if (machine.send({ type: waiter.event, amount }, waiter.call_id).type === 'admitted')
      waiter.admit(amount);
  }

  /**
   * Requests from the ledger the money that the grant lacks for the first overrun that waits. If too
   * little is free, the ledger recalls unused grants. After `OVERRUN_WAIT_MS` the overrun takes
   * what is free, and the platform absorbs the rest.
   */
  private async requestForOverrun(): Promise<void> {
    const { missing, recall_seq } = this.overruns;
    if (missing > 0) {
      const request = { need: missing, want: missing, recall_seq, for_overrun: true };
      const answer = await this.request(request);
      if (answer.type === 'granted') {
        this.quota.machine.send({ type: 'GRANTED', granted: answer.granted, exact: true });
      } else if (this.overruns.mustWait(answer)) {
        if (this.recall.requested <= this.recall.acked) await this.waitForChange();
      }
    }
    if (this.overruns.takeIdle()) this.quota.admitWaiting();
  }

  private async returnUnused(): Promise<void> {
    const { grant } = this;
    const { machine } = this.quota;
    const { requested } = this.recall;
    const isRecalled = requested > this.recall.acked;
    const close = this.isCloseRequested && this.quota.isIdle;
    const keep = machine.idle - this.returnableAmount();
    this.isCloseRequested = false;
    this.surplus = 0;
    // A pending refill was meant for earlier calls, so returning money cancels it.
    this.refillAmount = 0;
    machine.send(isRecalled ? { type: 'RECALLED' } : { type: 'SHRINK', keep });
    if (grant.granted > 0 || grant.isUncertain) {
      const amount = Math.max(0, this.owed);
      const isClosed = await grant.return({ amount, recall_acked: requested, close });
      if (grant === this.grant && isClosed) this.replaceGrant();
    }
    this.recall.acked = Math.max(this.recall.acked, requested);
  }

  private applyGrant(answer: GrantAnswer): void {
    if (answer.type !== 'granted') {
      this.quota.machine.send({ type: 'REFUSED', gone: false });
      return;
    }
    // The money beyond a soft budget is for these calls only: the next ones are compared with the limit again.
    if (this.reached.some(({ is_spent }) => !is_spent))
      this.quota.machine.send({ type: 'REFUSED', gone: false });
    this.quota.machine.send({ type: 'GRANTED', granted: answer.granted, exact: answer.exact });
    this.quota.admitWaiting();
  }

  /** Resolves when `wake` is called, or after `RETRY_MS`, because hints may be lost. */
  private waitForChange(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        cancel();
        this.wakeUp = undefined;
        resolve();
      };
      const cancel = this.deps.clock.after(RETRY_MS, done);
      this.wakeUp = done;
    });
  }
}
