import type { ChannelActor, ChannelPermit } from '../../actors/channels/channel.ts';
import type { RoutingPolicy } from '../../catalogue/schema.ts';
import { WeirError } from '../../errors/weir-error.ts';
import {
  type CallSignal,
  RetryableUpstreamError,
  TerminalUpstreamError,
} from '../../upstreams/contract.ts';
import type { CallRecord } from '../records/call-record.ts';
import { Candidates } from './candidates.ts';
import { orderChannels } from './order.ts';
import { attemptFailure } from './own-words.ts';

/** A call is tried on at most this many channels. */
export const MAX_ATTEMPTS = 4;
/** After this time Weir tries no further channel, because the SDKs have stopped waiting. */
const MAX_FAILOVER_MS = 600_000;
/** Bounds of `retry_after`, seconds. */
const MIN_RETRY_AFTER_S = 1;
const MAX_RETRY_AFTER_S = 120;
/** The hint of a refusal without a proven reason. */
const REFUSED_HINT =
  'Check the request. If it is correct, report the request id to the operator, or use another model.';
/** The hint of `all_channels_failed`. */
export const UNAVAILABLE_HINT = 'Retry after the given time, or use another model.';

/** Options of `withFailover` and `withHedge`. */
export interface RoutingOptions {
  /** Milliseconds since the Unix epoch. */
  now: () => number;
  /**
   * Returns a random number, 0 ≤ x < 1. It spreads the calls over channels of the same priority.
   */
  random: () => number;
  /** Aborted when the client leaves, or when its deadline passes. Then no attempt starts. */
  signal: CallSignal;
  /** How the model's channels are ordered. */
  policy?: RoutingPolicy | undefined;
  /** Notes the attempts. */
  record?: CallRecord | undefined;
}

/**
 * One attempt on one channel. It must end when the signal of `RoutingOptions` is aborted, or when
 * `hedge_signal` is aborted because another attempt was faster.
 */
export type Attempt<Result> = (
  permit: ChannelPermit,
  hedge_signal?: AbortSignal,
) => Promise<Result>;

/**
 * The result of a successful attempt. The holder of this object must end the permit (the right to
 * use a slot of the channel), and thereby reports how the call ended.
 */
export interface Served<Result> {
  readonly result: Result;
  readonly permit: ChannelPermit;
}

/** Controls one of the two runs of a hedged call. */
export interface AttemptControl {
  readonly signal: AbortSignal;
  /** Called for each channel that is tried. */
  readonly onStarted: ((channel: ChannelActor) => void) | undefined;
}

/**
 * Runs `attempt` on one channel after the other until one succeeds. Only a failure of the upstream
 * leads to the next channel. A client's error (TerminalUpstreamError), an abort or an unexpected
 * error ends the call. An attempt resolves before the first byte is sent to the client. So Weir
 * retries nothing after that byte (P7).
 */
export function withFailover<Result>(
  channels: readonly ChannelActor[],
  options: RoutingOptions,
  attempt: Attempt<Result>,
): Promise<Served<Result>> {
  return new Failover(channels, options, attempt).run();
}

/**
 * The attempts of one call. With a hedge, two runs share one instance, so that each channel is
 * tried at most once.
 */
export class Failover<Result> {
  private readonly candidates: Candidates<ChannelActor>;
  private readonly failures: RetryableUpstreamError[] = [];
  /** No attempt starts after this time, ms since the Unix epoch. */
  private readonly end_ms: number;

  constructor(
    private readonly channels: readonly ChannelActor[],
    private readonly options: RoutingOptions,
    private readonly attempt: Attempt<Result>,
  ) {
    const { now, random, policy } = options;
    this.candidates = new Candidates(orderChannels(channels, random, policy));
    this.end_ms = now() + MAX_FAILOVER_MS;
  }

  /**
   * Runs attempts until one succeeds. If an attempt throws anything but a RetryableUpstreamError,
   * this method throws that error (see `publicError`) and tries no other channel. If no channel is
   * left, it throws `refusal()`. A run of a hedged call (with `control`) returns undefined instead,
   * because the other run can succeed. Throws the reason of the call's signal if that signal is
   * aborted.
   */
  run(): Promise<Served<Result>>;
  run(control: AttemptControl): Promise<Served<Result> | undefined>;
  async run(control?: AttemptControl): Promise<Served<Result> | undefined> {
    const { now, signal, record } = this.options;
    for (;;) {
      if (signal.aborted) throw signal.reason;
      const mayTry = this.failures.length < MAX_ATTEMPTS && now() < this.end_ms;
      const permit = mayTry ? this.candidates.next(this.acquire) : undefined;
      if (!permit) {
        if (control) return undefined;
        throw this.refusal();
      }
      control?.onStarted?.(permit.channel);
      record?.tryChannel(permit.channel.config.id);
      try {
        return { result: await this.attempt(permit, control?.signal), permit };
      } catch (error) {
        if (!(error instanceof RetryableUpstreamError)) {
          permit.abandoned();
          record?.failChannel(permit.channel.config.id, undefined);
          throw publicError(error);
        }
        permit.failed(error);
        record?.failChannel(permit.channel.config.id, error);
        this.failures.push(attemptFailure(error, permit.channel.config.id));
      }
    }
  }

  private readonly acquire = (channel: ChannelActor, urgent: boolean) =>
    channel.tryAcquire('call', urgent, this.options.record?.request.id);

  /** Returns the error for the client if no channel served the call. */
  refusal(): WeirError {
    const now = this.options.now();
    if (this.end_ms <= now) return tooLateError(this.failures);
    return noChannelError(this.channels, this.failures, now);
  }
}

/**
 * Converts a TerminalUpstreamError to the WeirError for the client. Returns any other error
 * unchanged.
 */
export function publicError(error: unknown): unknown {
  if (!(error instanceof TerminalUpstreamError)) return error;
  const { error_id, public_message, param, details } = error;
  const more = details === undefined ? {} : { details };
  return new WeirError(error_id, public_message, { param, ...more }, error);
}

function tooLateError(failures: readonly RetryableUpstreamError[]): WeirError {
  const cause = new AggregateError(failures, 'the time for failover passed');
  return new WeirError('timeout_error', 'The model did not answer in time.', {}, cause);
}

/**
 * Returns the error for the client. The error depends on why no channel served the call (spec:
 * Errors).
 */
export function noChannelError(
  channels: readonly ChannelActor[],
  failures: readonly RetryableUpstreamError[],
  now: number,
): WeirError {
  const retry_after = retryAfter(channels, now);
  const cause = new AggregateError(failures, 'every channel failed or was unavailable');
  const enabled = channels.filter(({ state }) => state !== 'disabled');
  // A channel whose circuit is open after an earlier 429 was not tried. It counts as throttled too.
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
  if (first && failures.every(({ fault }) => fault === 'overload')) {
    const message = 'The model provider has too many requests at the moment.';
    return new WeirError('upstream_overloaded', message, { retry_after }, cause);
  }
  const unclear = failures.find(({ failure }) => failure === 'unclear');
  if (unclear && failures.every(({ failure }) => ['unclear', 'auth'].includes(failure))) {
    return refusedError(unclear, failures.length === channels.length, retry_after, cause);
  }
  if (channels.length === 1 && first && first.failure !== 'auth') {
    const message = 'The model provider returned an error.';
    return new WeirError('upstream_error', message, { retry_after }, cause);
  }
  return new WeirError(
    'all_channels_failed',
    'No provider can serve this model right now.',
    { retry_after, hint: UNAVAILABLE_HINT },
    cause,
  );
}

/**
 * Returns the error for a request that every channel refused without a proof of whose fault it is
 * (P19). `isEvery` is true if no channel is left that could serve the same request later.
 */
function refusedError(
  { public_message, error_id }: RetryableUpstreamError,
  isEvery: boolean,
  retry_after: number,
  cause: Error,
): WeirError {
  const said = refusedMessage(public_message);
  if (error_id !== undefined && isEvery) return new WeirError(error_id, said, {}, cause);
  const details = isEvery ? { retryable: false, hint: REFUSED_HINT } : { retry_after };
  return new WeirError('upstream_error', said, details, cause);
}

/** Returns the message of a refusal that proves no reason. `said` is the upstream's sentence. */
export function refusedMessage(said: string | undefined): string {
  return said === undefined
    ? 'The model provider refused the request and gave no reason.'
    : `The model provider refused the request: ${said}`;
}

/**
 * Returns the `retry_after` of an error, whole seconds: the time until one of the channels may
 * allow a call. `now` is in milliseconds since the Unix epoch.
 */
export function retryAfter(
  channels: readonly Pick<ChannelActor, 'availableAt'>[],
  now: number,
): number {
  const then = Math.min(...channels.map((channel) => channel.availableAt()));
  const wait = Number.isFinite(then) ? Math.ceil((then - now) / 1000) : MAX_RETRY_AFTER_S;
  return Math.min(MAX_RETRY_AFTER_S, Math.max(MIN_RETRY_AFTER_S, wait));
}
