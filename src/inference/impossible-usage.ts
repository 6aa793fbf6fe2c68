import type { ChannelPermit } from '../actors/channels/channel.ts';
import { RetryableUpstreamError } from '../upstreams/contract.ts';

/**
 * Tells the operator that a channel reported impossible usage (see `UsageReport`): in the log, and
 * as the last failure of the channel. The health of the channel does not change, because its answer
 * was good.
 */
export function noteImpossibleUsage(
  { channel }: Pick<ChannelPermit, 'channel'>,
  { onError }: { readonly onError: (error: unknown, request_id: string) => void },
  request_id: string,
): void {
  const message = `the channel ${channel.config.id} reported impossible usage for ${channel.model}`;
  channel.noteFailure('malformed', message);
  onError(
    new RetryableUpstreamError('malformed', `${message}; Weir counted the usage itself`),
    request_id,
  );
}
