import type { ChannelPermit } from '../../actors/channels/channel.ts';
import {
  RetryableUpstreamError,
  type StreamEvent,
  type UpstreamProtocol,
} from '../../upstreams/contract.ts';
import { Deadline } from '../../upstreams/transport/deadlines.ts';
import { type InferenceCall, upstreamCall } from '../call.ts';
import { StopSignal } from './stop-signal.ts';
import type { OpenStream } from './stream.ts';

/**
 * Opens a stream and reads its events up to the first token. Before the first token nothing was
 * sent to the client, so another channel may still serve the call (P7). Throws
 * RetryableUpstreamError `timeout` if the first token does not arrive in time. Also throws the
 * errors of `UpstreamProtocol.stream` and of the stream's events. `hedge_signal` is aborted if
 * another attempt was faster. Like the client's signal, it stops the stream.
 */
export async function openStream(
  call: InferenceCall,
  permit: ChannelPermit,
  protocol: UpstreamProtocol,
  max_output_tokens: number | undefined,
  hedge_signal?: AbortSignal,
): Promise<OpenStream> {
  const stop = hedge_signal
    ? new StopSignal(call.signal, hedge_signal)
    : new StopSignal(call.signal);
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
    let first: StreamEvent[] | undefined;
    while (!first?.some(hasContent)) {
      const { done, value } = await iterator.next();
      first = first ? first.concat(value ?? []) : (value ?? []);
      if (done) break;
    }
    permit.answered();
    return { protocol, stream, iterator, permit, first: first ?? [], stop };
  } finally {
    deadline.cancel();
  }
}

/** True for an event that carries a part of the answer, or ends it. */
function hasContent({ produced, final }: StreamEvent): boolean {
  return final || produced !== '';
}
