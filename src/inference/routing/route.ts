import type { ChannelActor, ChannelPermit } from '../../actors/channels/channel.ts';
import type { RoutingPolicy } from '../../catalogue/schema.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { RetryableUpstreamError, TerminalUpstreamError } from '../../upstreams/contract.ts';
import { orderChannels } from './order.ts';

/** One call is tried on at most this many channels. */
export const MAX_ATTEMPTS = 4;
/** No further channel is tried after this time: by then the SDKs have given up (contracts 1.1). */
const MAX_FAILOVER_MS = 600_000;
/** What `retry_after` says at least and at most, seconds. */
const MIN_RETRY_AFTER_S = 1;
const MAX_RETRY_AFTER_S = 120;

/** What routing needs of its surroundings; random so that equal channels share the calls. */
export interface RoutingOptions {
  /** Milliseconds since the Unix epoch. */
  now: () => number;
  random: () => number;
  /** When the client stops waiting, like `now`; `MAX_FAILOVER_MS` from the start if it did not say. */
  deadline_ms?: number;
  /** How the model's channels are put in order. */
  policy?: RoutingPolicy;
}

/** One try on one channel; a `lane` that is aborted takes the try back. */
export type Attempt<Result> = (
  permit: ChannelPermit,
  timeout_ms: number,
  lane?: AbortSignal,
) => Promise<Result>;

/** What a try resolved with, and the channel's permit: whoever gets it reports how the call went on. */
export interface Served<Result> {
  readonly result: Result;
  readonly permit: ChannelPermit;
}

/** One of several tries at the same time. */
export interface AttemptControl {
  readonly signal: AbortSignal;
  /** Told of each channel that is asked. */
  readonly markStarted: ((channel: ChannelActor) => void) | undefined;
}

/**
 * Runs `attempt` on one channel after the other until one resolves, within the deadline. Only
 * failures of the upstream move on; the caller's own (TerminalUpstreamError), an abort and
 * everything unexpected end it (P7: an attempt resolves before the first byte reaches the client, so
 * nothing is tried after). `timeout_ms` is what the channel may take, cut to what the deadline leaves.
 */
export function withFailover<Result>(
  channels: readonly ChannelActor[],
  surroundings: RoutingOptions,
  attempt: Attempt<Result>,
): Promise<Served<Result>> {
  return new Failover(channels, surroundings, attempt).run();
}

/** The tries of one call. Two lanes may share them: neither takes a channel that the other took. */
export class Failover<Result> {
  private readonly untried: ChannelActor[];
  private readonly reluctant: ChannelActor[] = [];
  private readonly failures: RetryableUpstreamError[] = [];
  private readonly deadline_ms: number;

  constructor(
    private readonly channels: readonly ChannelActor[],
    private readonly surroundings: RoutingOptions,
    private readonly attempt: Attempt<Result>,
  ) {
    const { now, random, policy, deadline_ms = now() + MAX_FAILOVER_MS } = surroundings;
    this.untried = orderChannels(channels, random, policy).reverse();
    this.deadline_ms = deadline_ms;
  }

  /**
   * Tries until one resolves. Throws what no other channel could mend; where nobody is left to be
   * asked the refusal, or, since another lane may still be served, a lane gets undefined.
   */
  run(): Promise<Served<Result>>;
  run(lane: AttemptControl): Promise<Served<Result> | undefined>;
  async run(lane?: AttemptControl): Promise<Served<Result> | undefined> {
    const { now } = this.surroundings;
    for (;;) {
      const left_ms = this.deadline_ms - now();
      const permit = this.failures.length < MAX_ATTEMPTS && left_ms > 0 ? this.take() : undefined;
      if (!permit) {
        if (lane) return undefined;
        throw this.refusal();
      }
      lane?.markStarted?.(permit.channel);
      try {
        const timeout_ms = Math.min(left_ms, permit.channel.config.timeout_ms);
        return { result: await this.attempt(permit, timeout_ms, lane?.signal), permit };
      } catch (error) {
        if (!(error instanceof RetryableUpstreamError)) {
          permit.abandoned();
          throw publicError(error);
        }
        permit.failed(error);
        this.failures.push(error);
      }
    }
  }

  /** The next channel that takes the call; those that hold back are asked last, and urgently. */
  private take(): ChannelPermit | undefined {
    for (let channel = this.untried.pop(); channel; channel = this.untried.pop()) {
      const permit = channel.tryAcquire();
      if (permit) return permit;
      this.reluctant.push(channel);
    }
    for (let channel = this.reluctant.shift(); channel; channel = this.reluctant.shift()) {
      const permit = channel.tryAcquire('call', true);
      if (permit) return permit;
    }
    return undefined;
  }

  /** What the client is told when nobody served. */
  refusal(): WeirError {
    const now = this.surroundings.now();
    if (this.deadline_ms <= now) return tooLate(this.failures);
    return exhausted(this.channels, this.failures, now);
  }
}

/** A refusal that the client caused, as the client sees it; everything else as it is. */
export function publicError(error: unknown): unknown {
  if (!(error instanceof TerminalUpstreamError)) return error;
  return new WeirError(error.error_id, error.public_message, { param: error.param }, error);
}

function tooLate(failures: readonly RetryableUpstreamError[]): WeirError {
  const cause = new AggregateError(failures, 'the deadline passed');
  return new WeirError('timeout_error', 'The model did not answer in time.', {}, cause);
}

/** No channel served: what the client is told depends on why (spec: Errors). */
function exhausted(
  channels: readonly ChannelActor[],
  failures: readonly RetryableUpstreamError[],
  now: number,
): WeirError {
  const retry_after = secondsUntil(Math.min(...channels.map((each) => each.availableAt())), now);
  const cause = new AggregateError(failures, 'every channel failed or was unavailable');
  const enabled = channels.filter(({ state }) => state !== 'disabled');
  // Channels that were not even asked, since they had asked for patience before, count as well.
  const throttled = enabled.filter(
    ({ state, snapshot }) => state === 'open' && snapshot.context.reason === 'throttle',
  );
  if (enabled.length > 0 && throttled.length === enabled.length) {
    const message = 'The model is receiving more requests than it can serve.';
    return new WeirError('rate_limit_exceeded', message, { retry_after }, cause);
  }
  const [first] = failures;
  if (first && failures.every(({ failure }) => failure === 'timeout')) {
    const message = 'The model did not answer in time.';
    return new WeirError('timeout_error', message, { retry_after }, cause);
  }
  if (channels.length === 1 && first && first.failure !== 'auth') {
    const message = 'The model provider returned an error.';
    return new WeirError('upstream_error', message, { retry_after }, cause);
  }
  return new WeirError(
    'all_channels_failed',
    'No provider can serve this model right now.',
    { retry_after, hint: 'Retry after the given time, or use another model.' },
    cause,
  );
}

function secondsUntil(then: number, now: number): number {
  const wait = Number.isFinite(then) ? Math.ceil((then - now) / 1000) : MAX_RETRY_AFTER_S;
  return Math.min(MAX_RETRY_AFTER_S, Math.max(MIN_RETRY_AFTER_S, wait));
}
