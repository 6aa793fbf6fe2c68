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
 * Begins a stream, up to its first words: until then nothing of it was sent, and another channel may
 * serve the call (P7). Throws RetryableUpstreamError `timeout` where they do not come in time, like
 * an upstream's call otherwise. `lane` = another reason to stop.
 */
export async function openStream(
  call: InferenceCall,
  permit: ChannelPermit,
  protocol: UpstreamProtocol,
  clamp: number | undefined,
  lane?: AbortSignal,
): Promise<OpenStream> {
  const stop = lane ? new StopSignal(call.signal, lane) : new StopSignal(call.signal);
  const { config } = permit.channel;
  const patience_ms = config.first_token_timeout_ms ?? config.timeout_ms;
  const words = new Deadline(patience_ms, () =>
    stop.abort(new RetryableUpstreamError('timeout', 'no words came in time')),
  );
  try {
    const stream = await protocol.stream(upstreamCall(call, permit.channel, stop, clamp));
    const iterator = stream.events[Symbol.asyncIterator]();
    let first: StreamEvent[] | undefined;
    while (!first?.some(isWord)) {
      const { done, value } = await iterator.next();
      first = first ? first.concat(value ?? []) : (value ?? []);
      if (done) break;
    }
    permit.answered();
    return { protocol, stream, iterator, permit, first: first ?? [], stop };
  } finally {
    words.cancel();
  }
}

/** True for what produced something, or ends the answer. */
function isWord({ produced, final }: StreamEvent): boolean {
  return final || produced !== '';
}
