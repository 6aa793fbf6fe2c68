import type { ChannelPermit } from '../../actors/channels/channel.ts';
import {
  type CallSignal,
  RetryableUpstreamError,
  type StreamEvent,
  type UpstreamProtocol,
} from '../../upstreams/contract.ts';
import { Deadline } from '../../upstreams/transport/deadlines.ts';
import { type InferenceCall, upstreamCall } from '../call.ts';
import { StopSignal } from './stop-signal.ts';
import type { OpenStream } from './stream-parts.ts';

/** The most events before the first token. Providers send a few, e.g. the start of a message. */
const MAX_EVENTS_WITHOUT_CONTENT = 1_000;

/**
 * Opens a stream and reads its events up to the first token. Before the first token nothing was
 * sent to the client, so another channel may still serve the call (P7). Throws
 * RetryableUpstreamError `timeout` if the first token does not arrive in time. Also throws the
 * errors of `UpstreamProtocol.stream` and of the stream's events. `signal` stops the stream; default: the
 * signal of the call. So does `hedge_signal`, which is aborted if another attempt was faster.
 */
export async function openStream(
  call: InferenceCall,
  permit: ChannelPermit,
  protocol: UpstreamProtocol,
  max_output_tokens: number | undefined,
  signal: CallSignal = call.signal,
  hedge_signal?: AbortSignal,
): Promise<OpenStream> {
  const stop = hedge_signal ? new StopSignal(signal, hedge_signal) : new StopSignal(signal);
  const { config } = permit.channel;
  const first_token_timeout_ms = config.first_token_timeout_ms ?? config.timeout_ms;
  const deadline = new Deadline(first_token_timeout_ms, () =>
    stop.abort(new RetryableUpstreamError('timeout', 'the first token did not arrive in time')),
  );
  try {
    const stream = await protocol.stream(
      upstreamCall(call, permit.channel, stop, max_output_tokens),
    );
    const iterator = stream.events[Symbol.asyncIterator]();
    const { done, value = [] } = await iterator.next();
    const first = done || value.some(hasContent) ? value : await readMore(iterator, value);
    permit.answered();
    return { protocol, stream, iterator, permit, first, stop };
  } finally {
    deadline.cancel();
  }
}

/**
 * Returns `events`, which have no content, and the events up to the first batch with content. Throws
 * if too many events have none.
 */
async function readMore(
  iterator: AsyncIterator<StreamEvent[]>,
  events: readonly StreamEvent[],
): Promise<StreamEvent[]> {
  const first = [...events];
  while (first.length <= MAX_EVENTS_WITHOUT_CONTENT) {
    const { done, value: batch } = await iterator.next();
    if (done) return first;
    for (const event of batch) first.push(event);
    if (batch.some(hasContent)) return first;
  }
  throw new RetryableUpstreamError('malformed', 'the stream has too many events without content');
}

/** True for an event that contains a part of the answer, or that ends the answer. */
function hasContent({ produced, final }: StreamEvent): boolean {
  return final || produced !== '';
}
