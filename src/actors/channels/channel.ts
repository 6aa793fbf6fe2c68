import { type ActorRefFrom, createActor, type SnapshotFrom } from 'xstate';
import {
  type ChannelFailure,
  COOLDOWNS_MS,
  channelMachine,
  MIN_SAMPLES,
} from '../../machines/channel.ts';
import type { ChannelConfig, RetryableUpstreamError } from '../../upstreams/contract.ts';
import type { Clock } from '../clock.ts';
import type { ChannelAccount, ChannelState } from './account.ts';
import { Latency } from './latency.ts';

/** How long a channel rests after a throttle that named no time. */
const DEFAULT_THROTTLE_MS = 1_000;
/** An upstream may ask for patience, not for retirement. */
export const MAX_THROTTLE_MS = 10 * 60_000;
/** When to ask again about a channel that is being probed. */
const PROBE_MS = 1_000;
const FLAWLESS = 0.9999;

/** The right to make one call on a channel. Ends exactly once. */
export interface ChannelPermit {
  readonly channel: ChannelActor;
  /** The answer has begun: what routing by latency goes by. Not saying it is saying it at the end. */
  answered(): void;
  succeeded(): void;
  /** `movesOn`: another channel is asked, so a job's end will say nothing of this one. */
  failed(error: RetryableUpstreamError, movesOn?: boolean): void;
  /** No verdict: the client left, or its request was at fault (P9). */
  abandoned(): void;
}

/** What an inspector is told of a change of state. */
export interface ChannelTransition {
  channel_id: string;
  /** The public model whose circuit it is. */
  model: string;
  from: ChannelState;
  to: ChannelState;
  /** Why it is open or disabled. */
  reason: string | null;
  /** Until when it is left alone; ms since the epoch. */
  open_until: number;
  /** Disabled, and tried again by itself. */
  returns: boolean;
  /** Another replica said so. */
  heard: boolean;
  at_ms: number;
}

/** Why a call failed; internal wording, never for a client (P5). */
export interface LastFailure {
  readonly failure: string;
  readonly message: string;
  readonly at_ms: number;
}

/** What another replica saw of a channel: it serves, or it is to be left alone until then. */
export type PeerHint =
  | { readonly kind: 'mended' }
  | { readonly kind: 'refused' }
  | { readonly kind: 'left_alone'; readonly until: number; readonly reason: string | null };

/** A client's call, a task's submission, or a call of our own to find out how it is. */
type Use = 'call' | 'job' | 'probe';

/** How a call of a model went; what its client did wrong is none (P9). */
export type OnOutcome = (channel_id: string, model: string, success: boolean) => void;

/** The channel actor: the live machine of one model on one upstream channel, and who may call it now. */
export class ChannelActor {
  private readonly machine: ActorRefFrom<typeof channelMachine>;
  private inFlight = 0;
  private hearing = false;
  private last: LastFailure | undefined;
  readonly latency = new Latency();

  /** `onTransition` hears of every change of state, `onOutcome` of every call that shows something. */
  constructor(
    /** The public model that it is about. */
    readonly model: string,
    private readonly account: ChannelAccount<ChannelActor>,
    private readonly clock: Clock,
    onTransition?: (transition: ChannelTransition) => void,
    private readonly onOutcome: OnOutcome = () => undefined,
  ) {
    account.actors.push(this);
    const { config } = account;
    this.machine = createActor(channelMachine);
    let from: ChannelState = 'healthy';
    this.machine.subscribe({
      next: ({ value: to, context }) => {
        if (to === from) return;
        const { reason, open_until, returns } = context;
        const heard = this.hearing;
        const change = { from, to, reason, open_until, returns, heard, at_ms: clock.now() };
        from = to;
        try {
          onTransition?.({ channel_id: config.id, model, ...change });
        } catch {
          // Who looks on must not stop what he looks at: thrown here, it would end the process.
        }
      },
      // A machine that throws must not end the process either.
      error: () => undefined,
    });
    this.machine.start();
    account.obey();
  }

  /** As the file has it now. */
  get config(): ChannelConfig {
    return this.account.config;
  }

  now(): number {
    return this.clock.now();
  }

  get state(): ChannelState {
    return this.machine.getSnapshot().value;
  }

  /** Share of recent successes, 0–1: routing prefers the healthier. */
  get health(): number {
    return this.machine.getSnapshot().context.recent_success;
  }

  get snapshot(): SnapshotFrom<typeof channelMachine> {
    return this.machine.getSnapshot();
  }

  /** When a call may be possible again, ms since the epoch; `now` if only others are in the way. */
  availableAt(): number {
    const { value, context } = this.machine.getSnapshot();
    switch (value) {
      case 'disabled':
        return context.returns ? context.open_until : Number.POSITIVE_INFINITY;
      case 'open':
        return context.open_until;
      case 'probing':
        return this.clock.now() + PROBE_MS;
      default:
        return this.clock.now();
    }
  }

  /** True if a permit would be given now. */
  canTake(): boolean {
    const isProbing = this.isProbed() && ['open', 'disabled'].includes(this.state);
    return this.availableAt() <= this.clock.now() && !isProbing && this.hasRoom(true);
  }

  /** True if Weir's own calls find out whether it is well again, and no client's. */
  private isProbed(): boolean {
    return this.config.probe_s !== undefined;
  }

  /**
   * A permit, or null: disabled, circuit open, probe under way, or as many calls as allowed. Of a
   * `job` its being taken says nothing yet of how it ends; a `probe` is no client's call. `urgent`: no
   * other channel is left, so one that is not well, or only coming back, takes more than its share.
   */
  tryAcquire(use: Use = 'call', urgent = false): ChannelPermit | null {
    const { value, context } = this.machine.getSnapshot();
    if (value === 'probing') return null;
    if (!this.hasRoom(urgent)) return null;
    let probe: number | undefined;
    if (value === 'open' || value === 'disabled') {
      const now = this.clock.now();
      if (now < context.open_until || (value === 'disabled' && !context.returns)) return null;
      if (use !== 'probe' && this.isProbed()) return null;
      this.machine.send({ type: 'COOLED', now });
      probe = this.snapshot.context.probe;
    }
    this.inFlight += 1;
    this.account.inFlight += 1;
    return new Permit(this, this.clock.now(), use, probe, this.account.identity);
  }

  /** A permit of this channel has ended: only the permit says so, and once. */
  ended(permit: Permit, outcome: Outcome, movedOn: boolean): void {
    const { use, probe, identity, began_ms } = permit;
    // What ran with an earlier account says nothing of the new one.
    this.end(identity === this.account.identity ? outcome : 'abandoned', probe);
    if (use === 'call' && outcome === 'succeeded') this.latency.record(began_ms);
    if (use === 'call' || (use === 'job' && movedOn)) this.note(outcome);
  }

  private hasRoom(urgent: boolean): boolean {
    const { max_concurrency } = this.config;
    if (this.account.inFlight >= max_concurrency) return false;
    return urgent || this.inFlight < this.share(max_concurrency);
  }

  /** Of the account's slots, those that this model may have while others could serve as well. */
  private share(max_concurrency: number): number {
    const { value, context } = this.machine.getSnapshot();
    const slots = Math.min(max_concurrency, context.slots ?? max_concurrency);
    if (value !== 'degraded') return slots;
    return Math.max(1, Math.min(slots, Math.ceil(max_concurrency * context.recent_success)));
  }

  private end(outcome: Outcome, probe: number | undefined): void {
    this.inFlight -= 1;
    this.account.inFlight -= 1;
    if (outcome instanceof Error) this.reportFailure(outcome, probe);
    else if (probe !== undefined) this.machine.send({ type: 'PROBED', probe, verdict: outcome });
    else if (outcome === 'succeeded') this.reportSuccess();
  }

  private note(outcome: Outcome): void {
    if (outcome === 'abandoned') return;
    this.onOutcome(this.config.id, this.model, outcome === 'succeeded');
  }

  /** The account's key was refused for another model. */
  credentialsFailed(): void {
    this.machine.send({ type: 'FAILED', failure: 'auth', now: this.clock.now() });
  }

  /** What the operator or the file says: no calls, or calls again. Saying it twice changes nothing. */
  disable(reason: string): void {
    const { value, context } = this.machine.getSnapshot();
    if (value === 'disabled' && !context.returns && context.reason === reason) return;
    this.machine.send({ type: 'DISABLED', reason });
  }

  enable(): void {
    const { value, context } = this.machine.getSnapshot();
    if (value === 'disabled' && !context.returns) this.machine.send({ type: 'ENABLED' });
  }

  /** The operator mended something: whatever was known of it is forgotten. */
  reset(): void {
    this.machine.send({ type: 'DISABLED', reason: 'configuration' });
    this.machine.send({ type: 'ENABLED' });
  }

  /** What another replica saw; one that is just finding out for itself believes nobody. */
  onPeerHint(hint: PeerHint): void {
    if (this.state === 'probing') return;
    this.hearing = true;
    if (hint.kind === 'mended') this.machine.send({ type: 'MENDED' });
    else if (hint.kind === 'refused') this.credentialsFailed();
    else {
      const failure = isFailure(hint.reason) ? { failure: hint.reason } : {};
      this.machine.send({ type: 'THROTTLED', until: hint.until, ...failure });
    }
    this.hearing = false;
  }

  /** A call beside those of clients was answered: it is let in again. */
  onProbeSucceeded(): void {
    this.machine.send({ type: 'MENDED' });
  }

  /** The last failure that counted, in words for the operator. */
  get lastFailure(): LastFailure | undefined {
    return this.last;
  }

  /** One more success of a channel without a blemish changes nothing: not worth an event. */
  private reportSuccess(): void {
    const { value, context } = this.machine.getSnapshot();
    const flawless =
      context.recent_success > FLAWLESS &&
      context.samples === MIN_SAMPLES &&
      context.slots === null;
    if (value !== 'healthy' || !flawless) this.machine.send({ type: 'SUCCEEDED' });
  }

  private reportFailure(error: RetryableUpstreamError, probe: number | undefined): void {
    const { failure, retry_after_ms, message } = error;
    this.last = { failure, message, at_ms: this.clock.now() };
    const now = this.clock.now();
    // Whoever says when to come back is taken at his word, a server that is overloaded too.
    const until = now + Math.min(retry_after_ms ?? DEFAULT_THROTTLE_MS, MAX_THROTTLE_MS);
    if (failure === 'throttle') {
      this.machine.send({ type: 'THROTTLED', until });
      return;
    }
    this.machine.send(
      probe === undefined
        ? { type: 'FAILED', failure, now }
        : { type: 'PROBED', probe, verdict: 'failed', failure, now },
    );
    if (retry_after_ms !== undefined) this.machine.send({ type: 'THROTTLED', until, failure });
    if (failure === 'auth') this.account.credentialsFailed(this);
  }
}

function isFailure(reason: string | null): reason is ChannelFailure {
  return reason !== null && Object.hasOwn(COOLDOWNS_MS, reason);
}

type Outcome = 'succeeded' | 'abandoned' | RetryableUpstreamError;

class Permit implements ChannelPermit {
  private answered_ms: number | undefined;
  private over = false;

  constructor(
    readonly channel: ChannelActor,
    private readonly since: number,
    readonly use: Use,
    /** The number of the probe that it is, if it is one. */
    readonly probe: number | undefined,
    /** Of the account that it was given for. */
    readonly identity: number,
  ) {}

  /** How long the answer took to begin. */
  get began_ms(): number {
    return this.answered_ms ?? this.channel.now() - this.since;
  }

  answered(): void {
    this.answered_ms ??= this.channel.now() - this.since;
  }

  succeeded(): void {
    this.once('succeeded');
  }

  failed(error: RetryableUpstreamError, movesOn = false): void {
    this.once(error, movesOn);
  }

  abandoned(): void {
    this.once('abandoned');
  }

  private once(outcome: Outcome, movedOn = false): void {
    if (this.over) return;
    this.over = true;
    this.channel.ended(this, outcome, movedOn);
  }
}
