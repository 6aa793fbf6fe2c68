import { type ActorRefFrom, createActor, type SnapshotFrom } from 'xstate';
import { channelMachine, MIN_SAMPLES } from '../machines/channel.ts';
import type { ChannelConfig, RetryableUpstreamError } from '../upstreams/contract.ts';
import type { Clock } from './clock.ts';

/** How long a channel rests after a throttle that named no time. */
export const DEFAULT_THROTTLE_MS = 1_000;
/** An upstream may ask for patience, not for retirement. */
export const MAX_THROTTLE_MS = 10 * 60_000;
const FLAWLESS = 0.9999;

export type ChannelState = SnapshotFrom<typeof channelMachine>['value'];

/** The right to make one call on a channel. Ends exactly once. */
export interface ChannelPermit {
  readonly channel: ChannelActor;
  succeeded(): void;
  failed(error: RetryableUpstreamError): void;
  /** No verdict: the client left, or its request was at fault (P9). */
  abandoned(): void;
}

/** The channel actor: the live machine of one upstream channel, and who may call it now. */
export class ChannelActor {
  private readonly machine: ActorRefFrom<typeof channelMachine>;
  private inFlight = 0;

  constructor(
    readonly config: ChannelConfig,
    private readonly clock: Clock,
  ) {
    this.machine = createActor(channelMachine);
    // A machine that throws must not end the process.
    this.machine.subscribe({ error: () => undefined });
    this.machine.start();
    if (!config.enabled) this.machine.send({ type: 'DISABLED', reason: 'configuration' });
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
    if (value === 'disabled') return Number.POSITIVE_INFINITY;
    return value === 'open' ? context.open_until : this.clock.now();
  }

  /** A permit, or null: disabled, circuit open, probe under way, or as many calls as allowed. */
  tryAcquire(): ChannelPermit | null {
    if (this.state === 'open') this.machine.send({ type: 'COOLED', now: this.clock.now() });
    if (this.inFlight >= this.room()) return null;
    this.inFlight += 1;
    return this.permit();
  }

  private room(): number {
    switch (this.state) {
      case 'healthy':
        return this.config.max_concurrency;
      case 'degraded':
        return Math.max(1, Math.ceil(this.config.max_concurrency * this.health));
      case 'probing':
        return 1;
      default:
        return 0;
    }
  }

  private permit(): ChannelPermit {
    let open = true;
    const end = (report?: () => void) => {
      if (!open) return;
      open = false;
      this.inFlight -= 1;
      report?.();
    };
    return {
      channel: this,
      succeeded: () => end(() => this.reportSuccess()),
      failed: (error) => end(() => this.report(error)),
      abandoned: () => end(),
    };
  }

  /** One more success of a channel without a blemish changes nothing: not worth an event. */
  private reportSuccess(): void {
    const { value, context } = this.machine.getSnapshot();
    const flawless = context.recent_success > FLAWLESS && context.samples === MIN_SAMPLES;
    if (value !== 'healthy' || !flawless) this.machine.send({ type: 'SUCCEEDED' });
  }

  private report({ failure, retry_after_ms }: RetryableUpstreamError): void {
    const now = this.clock.now();
    if (failure === 'throttle') {
      const wait = Math.min(retry_after_ms ?? DEFAULT_THROTTLE_MS, MAX_THROTTLE_MS);
      this.machine.send({ type: 'THROTTLED', until: now + wait });
      return;
    }
    this.machine.send({ type: 'FAILED', failure, now });
    if (retry_after_ms === undefined) return;
    if (this.state === 'open') {
      const until = now + Math.min(retry_after_ms, MAX_THROTTLE_MS);
      this.machine.send({ type: 'THROTTLED', until });
    }
  }
}
