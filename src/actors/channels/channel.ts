import { type ActorRefFrom, createActor, type SnapshotFrom } from 'xstate';
import type { Fault } from '../../errors/fault.ts';
import { type ChannelEvent, channelMachine, MIN_SAMPLES } from '../../machines/channel.ts';
import { type Cause, EventRing, RING_EVENTS } from '../../replay/event-ring.ts';
import {
  type ChannelConfig,
  type RetryableUpstreamError,
  targetOf,
  type UpstreamTarget,
} from '../../upstreams/contract.ts';
import type { Clock } from '../clock.ts';
import type { ChannelAccount, ChannelState, LastFailure } from './account.ts';
import { Latency } from './latency.ts';
import { isFailure, isUnclear, type Outcome } from './outcome.ts';
import { RefusedMemberList } from './refused-members.ts';
import type { ChannelTransition, PeerHint } from './transition.ts';

/** How long a channel gets no call after a rate-limit error without a retry time. */
const DEFAULT_THROTTLE_MS = 1_000;
/** The longest retry time that an upstream can request. A longer time is shortened to this. */
export const MAX_THROTTLE_MS = 10 * 60_000;
/** While a circuit is tested, `availableAt` assumes that it will allow calls after this time. */
const ASSUMED_PROBE_MS = 1_000;
/** A share of successes above this counts as 1: after a failure, the mean never reaches exactly 1. */
const PERFECT_SUCCESS = 0.9999;

/**
 * The permission for one call on a channel. The holder must end it once; a second end is ignored.
 */
export interface ChannelPermit {
  readonly channel: ChannelActor;
  /**
   * Call this when the answer starts. The time until then is the latency that routing uses. If this
   * is not called, the time until the end of the call is used.
   */
  answered(): void;
  succeeded(): void;
  /**
   * Set `movesOn` if this channel did not accept a job and the job now tries another channel. Then
   * the failure is counted as an outcome of this channel. Without `movesOn`, the outcome of a job
   * is counted when the job ends.
   */
  failed(error: RetryableUpstreamError, movesOn?: boolean): void;
  /**
   * Ends the call as neither success nor failure. Call it if the client left or if its request was
   * wrong (P9).
   */
  abandoned(): void;
}

/** The use of a permit: a client's call, the submission of a task, or a probe by Weir. */
export type PermitUse = 'call' | 'job' | 'probe';

/** Why a channel gives no permit now. `own_probes`: only a probe of Weir may test the open circuit. */
export type NoPermit = 'probing' | 'no_free_slot' | 'open' | 'disabled' | 'own_probes';

/** Called after each event of a circuit. `taken` is false if it changed nothing. Must not throw. */
export type OnChannelEvent = (actor: ChannelActor, event: ChannelEvent, taken: boolean) => void;

/** Receives each success or failure of a model on a channel. Client errors are neither (P9). */
export type OnOutcome = (channel_id: string, model: string, success: boolean) => void;

/** True for a state in which a channel takes no ordinary call. */
const isDown = (state: ChannelState) => state !== 'healthy' && state !== 'degraded';

/**
 * The circuit breaker and the slots of one model on one channel. A slot is the place of one running
 * call. Gives permits for calls.
 */
export class ChannelActor {
  private readonly machine: ActorRefFrom<typeof channelMachine>;
  private inFlight = 0;
  private isApplyingHint = false;
  private latestFailure: LastFailure | undefined;
  /** When the channel stopped being healthy or degraded, ms since the epoch; undefined if it is either. */
  down_since_ms: number | undefined;
  readonly latency = new Latency();
  /** The last events that changed something. */
  readonly ring: EventRing;
  /** What the upstream refused of what Weir adds to requests. */
  readonly refused = new RefusedMemberList();
  /** The target of the latest configuration. */
  private built: { readonly config: ChannelConfig; readonly target: UpstreamTarget } | undefined;

  /** `onTransition` is called for each change of state, `onOutcome` for each outcome. */
  constructor(
    /** The public model. */
    readonly model: string,
    private readonly account: ChannelAccount<ChannelActor>,
    private readonly clock: Clock,
    onTransition?: (transition: ChannelTransition) => void,
    private readonly onOutcome: OnOutcome = () => undefined,
    private readonly onEvent?: OnChannelEvent,
    ring_events?: number,
  ) {
    account.actors.push(this);
    const { config } = account;
    this.machine = createActor(channelMachine);
    let from: ChannelState = 'healthy';
    this.machine.subscribe({
      next: ({ value: to, context }) => {
        if (to === from) return;
        const { reason, open_until, returns } = context;
        const is_from_peer_hint = this.isApplyingHint;
        const cause = { reason, open_until, returns, is_from_peer_hint };
        const change = { from, to, ...cause, at_ms: clock.now() };
        from = to;
        this.down_since_ms = isDown(to) ? (this.down_since_ms ?? change.at_ms) : undefined;
        try {
          onTransition?.({ channel_id: config.id, model, ...change });
        } catch {
          // Without this catch, an error of `onTransition` would end the process.
        }
      },
      // A machine that throws must not end the process either.
      error: () => undefined,
    });
    this.machine.start();
    const now = () => clock.now();
    this.ring = new EventRing(this.machine.getSnapshot(), now, () => ring_events ?? RING_EVENTS);
    account.applySettings();
  }

  get config(): ChannelConfig {
    return this.account.config;
  }

  /** Where the model's requests go. It is built once for each configuration, not for each call. */
  get target(): UpstreamTarget {
    const { config } = this.account;
    if (this.built?.config !== config) {
      this.built = { config, target: { ...targetOf(config), refused: this.refused } };
    }
    return this.built.target;
  }

  now(): number {
    return this.clock.now();
  }

  get state(): ChannelState {
    return this.machine.getSnapshot().value;
  }

  /** The share of recent successes, 0–1. Routing prefers the channel with the larger share. */
  get health(): number {
    return this.machine.getSnapshot().context.recent_success;
  }

  get snapshot(): SnapshotFrom<typeof channelMachine> {
    return this.machine.getSnapshot();
  }

  /**
   * Returns the time from which the circuit may allow a call, ms since the epoch. Slots are not
   * considered: if all slots are in use, the result is the present time.
   */
  availableAt(): number {
    const { value, context } = this.machine.getSnapshot();
    switch (value) {
      case 'disabled':
        return context.returns ? context.open_until : Number.POSITIVE_INFINITY;
      case 'open':
        return context.open_until;
      case 'probing':
        return this.clock.now() + ASSUMED_PROBE_MS;
      default:
        return this.clock.now();
    }
  }

  /** True if an urgent `tryAcquire` for a client's call would return a permit now. */
  canAcquire(): boolean {
    return this.whyNoPermit('call', true) === undefined;
  }

  /** True if only Weir's own probes test an open circuit, and calls of clients do not. */
  private isProbed(): boolean {
    return this.config.probe_s !== undefined;
  }

  /** Returns why `tryAcquire` would return null now; undefined if it would return a permit. */
  whyNoPermit(use: PermitUse, urgent: boolean): NoPermit | undefined {
    const { value, context } = this.machine.getSnapshot();
    if (value === 'probing') return 'probing';
    if (!this.hasFreeSlot(urgent)) return 'no_free_slot';
    if (value !== 'open' && value !== 'disabled') return undefined;
    if (value === 'disabled' && !context.returns) return 'disabled';
    if (this.clock.now() < context.open_until) return value;
    return use !== 'probe' && this.isProbed() ? 'own_probes' : undefined;
  }

  /**
   * Returns a permit, or null. Null means that the channel is disabled, its circuit is open, a
   * probe runs, or all slots are in use. With the use `job`, a successful submission is not counted
   * as an outcome, because the job can fail later. Set `urgent` if no other channel is left. Then a
   * degraded or recovering channel gives more slots than usual. `cause_id` is the request's UUID, or
   * the task of a job, for the history of the circuit.
   */
  tryAcquire(use: PermitUse = 'call', urgent = false, cause_id?: string): ChannelPermit | null {
    if (this.whyNoPermit(use, urgent) !== undefined) return null;
    let probe: number | undefined;
    if (this.state === 'open' || this.state === 'disabled') {
      this.send({ type: 'COOLED', now: this.clock.now() }, use, cause_id);
      probe = this.snapshot.context.probe;
    }
    this.inFlight += 1;
    this.account.inFlight += 1;
    return new Permit(this, this.clock.now(), use, probe, this.account.generation, cause_id);
  }

  /**
   * Called once by each permit when it ends. `movedOn` is true if the job goes to another channel.
   */
  onPermitEnded(permit: Permit, outcome: Outcome, movedOn: boolean): void {
    const { use, generation: identity, first_answer_ms: began_ms } = permit;
    // If the upstream account changed during the call, the outcome says nothing about the new one.
    this.reportOutcome(identity === this.account.generation ? outcome : 'abandoned', permit);
    if (use === 'call' && outcome === 'succeeded') this.latency.record(began_ms);
    if (use === 'call' || (use === 'job' && movedOn)) this.countOutcome(outcome);
  }

  private send(event: ChannelEvent, cause: Cause = 'weir', cause_id?: string): void {
    const before = this.machine.getSnapshot();
    this.machine.send(event);
    const after = this.machine.getSnapshot();
    const taken = after !== before;
    if (taken) this.ring.add(event, after, this.isApplyingHint ? 'replica' : cause, cause_id);
    this.onEvent?.(this, event, taken);
  }

  private hasFreeSlot(urgent: boolean): boolean {
    const { max_concurrency } = this.config;
    if (this.account.inFlight >= max_concurrency) return false;
    return urgent || this.inFlight < this.maxSlots(max_concurrency);
  }

  /** How many calls of this model may run at once if none of them is urgent. */
  private maxSlots(max_concurrency: number): number {
    const { value, context } = this.machine.getSnapshot();
    const slots = Math.min(max_concurrency, context.slots ?? max_concurrency);
    if (value !== 'degraded') return slots;
    return Math.max(1, Math.min(slots, Math.ceil(max_concurrency * context.recent_success)));
  }

  private reportOutcome(outcome: Outcome, { probe, use, cause_id }: Permit): void {
    this.inFlight -= 1;
    this.account.inFlight -= 1;
    if (outcome instanceof Error) {
      this.noteFailure(outcome.failure, outcome.message, outcome.fault);
    }
    const verdict = isUnclear(outcome) ? 'abandoned' : outcome;
    if (verdict instanceof Error) this.reportFailure(verdict, probe, use, cause_id);
    else if (probe !== undefined) this.send({ type: 'PROBED', probe, verdict }, use, cause_id);
    else if (verdict === 'succeeded') this.reportSuccess(use, cause_id);
  }

  private countOutcome(outcome: Outcome): void {
    if (outcome === 'abandoned' || isUnclear(outcome)) return;
    this.onOutcome(this.config.id, this.model, outcome === 'succeeded');
  }

  /** Called when the upstream refused the account's key in another model's or replica's call. */
  onCredentialsRefused(): void {
    this.send({ type: 'FAILED', failure: 'auth', now: this.clock.now() });
  }

  /** Disables the channel for the operator or the configuration. A second call changes nothing. */
  disable(reason: string): void {
    const { value, context } = this.machine.getSnapshot();
    if (value === 'disabled' && !context.returns && context.reason === reason) return;
    this.send({ type: 'DISABLED', reason });
  }

  /** Enables a channel that `disable` disabled. Refused credentials keep it disabled. */
  enable(): void {
    const { value, context } = this.machine.getSnapshot();
    if (value === 'disabled' && !context.returns) this.send({ type: 'ENABLED' });
  }

  /** Discards the health of the channel, because its account or credentials changed. */
  reset(): void {
    this.refused.clear();
    this.send({ type: 'DISABLED', reason: 'configuration' });
    this.send({ type: 'ENABLED' });
  }

  /** Applies a hint of another replica. While a probe of this replica runs, hints are ignored. */
  onPeerHint(hint: PeerHint): void {
    if (this.state === 'probing') return;
    this.isApplyingHint = true;
    if (hint.kind === 'mended') this.send({ type: 'MENDED' });
    else if (hint.kind === 'refused') this.onCredentialsRefused();
    else {
      const failure = isFailure(hint.reason) ? { failure: hint.reason } : {};
      this.send({ type: 'THROTTLED', until: hint.until, ...failure });
    }
    this.isApplyingHint = false;
  }

  /** Called when a probe by Weir succeeded, or for an operator. Then clients may call the channel again. */
  mend(cause: 'probe' | 'operator'): void {
    this.send({ type: 'MENDED' }, cause);
  }

  /** The last failure of this model, or the last fault in a reported usage, worded for the operator. */
  get lastFailure(): LastFailure | undefined {
    return this.latestFailure;
  }

  /** Notes a failure for the operator that does not change the health of the channel. */
  noteFailure(failure: string, message: string, fault?: Fault): void {
    this.latestFailure = { failure, fault, message, at_ms: this.clock.now() };
  }

  /**
   * Reports a success to the machine. If the channel had no recent failure, sends no event, because
   * the event would change nothing.
   */
  private reportSuccess(use: PermitUse, cause_id: string | undefined): void {
    const { value, context } = this.machine.getSnapshot();
    const isFlawless =
      context.recent_success > PERFECT_SUCCESS &&
      context.samples === MIN_SAMPLES &&
      context.slots === null;
    if (value !== 'healthy' || !isFlawless) this.send({ type: 'SUCCEEDED' }, use, cause_id);
  }

  private reportFailure(
    error: RetryableUpstreamError,
    probe: number | undefined,
    use: PermitUse,
    cause_id: string | undefined,
  ): void {
    const { failure, retry_after_ms } = error;
    if (failure === 'unclear') return;
    const now = this.clock.now();
    // Not only rate-limit errors name a retry time. An overloaded server may name one too.
    const until = now + Math.min(retry_after_ms ?? DEFAULT_THROTTLE_MS, MAX_THROTTLE_MS);
    if (failure === 'throttle') {
      this.send({ type: 'THROTTLED', until }, use, cause_id);
      return;
    }
    this.send(
      probe === undefined
        ? { type: 'FAILED', failure, now }
        : { type: 'PROBED', probe, verdict: 'failed', failure, now },
      use,
      cause_id,
    );
    if (retry_after_ms !== undefined)
      this.send({ type: 'THROTTLED', until, failure }, use, cause_id);
    if (failure === 'auth') this.account.onCredentialsRefused(this);
  }
}

class Permit implements ChannelPermit {
  private answered_ms: number | undefined;
  private hasEnded = false;

  constructor(
    readonly channel: ChannelActor,
    private readonly started_ms: number,
    readonly use: PermitUse,
    /** The machine's number of the probe; undefined if the call is no probe. */
    readonly probe: number | undefined,
    /** How often the upstream account had changed when the permit was given. */
    readonly generation: number,
    /** UUID of the request, or the task of a job. */
    readonly cause_id: string | undefined,
  ) {}

  /** Time from the start of the call to the start of its answer, ms. */
  get first_answer_ms(): number {
    return this.answered_ms ?? this.channel.now() - this.started_ms;
  }

  answered(): void {
    this.answered_ms ??= this.channel.now() - this.started_ms;
  }

  succeeded(): void {
    this.end('succeeded');
  }

  failed(error: RetryableUpstreamError, movesOn = false): void {
    this.end(error, movesOn);
  }

  abandoned(): void {
    this.end('abandoned');
  }

  private end(outcome: Outcome, movedOn = false): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.channel.onPermitEnded(this, outcome, movedOn);
  }
}
