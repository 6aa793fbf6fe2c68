import type { ChannelActor, ChannelPermit } from '../actors/channel.ts';
import { WeirError } from '../errors/weir-error.ts';
import { RetryableUpstreamError, TerminalUpstreamError } from '../upstreams/contract.ts';

/** One call is tried on at most this many channels. */
export const MAX_ATTEMPTS = 4;
/** What `retry_after` says at least and at most, seconds. */
const MIN_RETRY_AFTER_S = 1;
const MAX_RETRY_AFTER_S = 120;

/** What routing needs of its surroundings; random so that equal channels share the calls. */
export interface Surroundings {
  now: () => number;
  random: () => number;
}

/**
 * Channels in the order in which they are tried: priority first, then by chance weighted with
 * `weight × recent success`, so that a healthier channel gets more (design 5, Routing).
 */
export function orderChannels(
  channels: readonly ChannelActor[],
  random: () => number,
): ChannelActor[] {
  // Efraimidis–Spirakis: u^(1/w) gives a weighted random order in one pass.
  return channels
    .map((channel) => {
      const weight = Math.max(channel.config.weight * channel.health, 1e-6);
      return { channel, draw: random() ** (1 / weight) };
    })
    .sort((a, b) => a.channel.config.priority - b.channel.config.priority || b.draw - a.draw)
    .map(({ channel }) => channel);
}

/**
 * Runs `attempt` on one channel after the other until one resolves. Only failures of the upstream
 * move on; the caller's own (TerminalUpstreamError), an abort and everything unexpected end it
 * (P7: an attempt resolves before the first byte reaches the client, so nothing is tried after).
 * The permit passes to whoever the attempt resolved for: that one reports how the call went on.
 */
export async function withFailover<Result>(
  channels: readonly ChannelActor[],
  surroundings: Surroundings,
  attempt: (permit: ChannelPermit) => Promise<Result>,
): Promise<Result> {
  const failures: RetryableUpstreamError[] = [];
  for (const channel of orderChannels(channels, surroundings.random)) {
    if (failures.length >= MAX_ATTEMPTS) break;
    const permit = channel.tryAcquire();
    if (!permit) continue;
    try {
      return await attempt(permit);
    } catch (error) {
      if (!(error instanceof RetryableUpstreamError)) {
        permit.abandoned();
        throw publicError(error);
      }
      permit.failed(error);
      failures.push(error);
    }
  }
  throw exhausted(channels, failures, surroundings.now());
}

/** A refusal that the client caused, as the client sees it; everything else as it is. */
export function publicError(error: unknown): unknown {
  if (!(error instanceof TerminalUpstreamError)) return error;
  return new WeirError(error.error_id, error.public_message, { param: error.param }, error);
}

/** No channel served: what the client is told depends on why (spec: Errors). */
function exhausted(
  channels: readonly ChannelActor[],
  failures: readonly RetryableUpstreamError[],
  now: number,
): WeirError {
  const earliest = Math.min(...channels.map((channel) => channel.availableAt()));
  const wait = Number.isFinite(earliest) ? Math.ceil((earliest - now) / 1000) : MAX_RETRY_AFTER_S;
  const retry_after = Math.min(MAX_RETRY_AFTER_S, Math.max(MIN_RETRY_AFTER_S, wait));
  const [first] = failures;
  const only = (failure: string) =>
    failures.length > 0 && failures.every((each) => each.failure === failure);
  const cause = new AggregateError(failures, 'every channel failed or was unavailable');
  if (only('throttle')) {
    const message = 'The model is receiving more requests than it can serve.';
    return new WeirError('rate_limit_exceeded', message, { retry_after }, cause);
  }
  if (only('timeout')) {
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
