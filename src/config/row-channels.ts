import type { ChannelRow } from '../../db/channels/rows.ts';
import { CHANNEL_PROTOCOLS } from '../protocols/names.ts';
import type { ChannelConfig } from '../upstreams/contract.ts';
import { seal, unseal } from './seal.ts';

/** What a channel's key belongs to. Sealed for one account, it cannot be sent to another. */
type Account = Pick<ChannelRow, 'id' | 'protocol' | 'base_url'>;

/** Encrypts the key of a channel for its row. `secret`: the installation's derived key, 32 bytes. */
export function sealChannelKey(secret: Uint8Array, account: Account, api_key: string): string {
  return seal(secret, api_key, contextOf(account));
}

/**
 * Returns the key of a channel; undefined if it cannot be decrypted, e.g. because the installation's
 * secret key was changed.
 */
function channelKeyOf(secret: Uint8Array, row: ChannelRow): string | undefined {
  try {
    return unseal(secret, row.sealed_key, contextOf(row));
  } catch {
    return undefined;
  }
}

/**
 * Returns the configuration of a channel that an operator made. If its key cannot be decrypted, the
 * channel is disabled and `api_key` is ''. Returns undefined if this version does not know the
 * channel's protocol.
 */
export function configOfRow(secret: Uint8Array, row: ChannelRow): ChannelConfig | undefined {
  const { id, base_url, models, priority, weight, max_concurrency, timeout_ms, enabled } = row;
  const protocol = CHANNEL_PROTOCOLS.find((name) => name === row.protocol);
  if (protocol === undefined) return undefined;
  const api_key = channelKeyOf(secret, row);
  return {
    ...{ id, protocol, base_url, models, priority, weight, max_concurrency, timeout_ms },
    api_key: api_key ?? '',
    enabled: enabled && api_key !== undefined,
  };
}

function contextOf({ id, protocol, base_url }: Account): string {
  return JSON.stringify(['channel', id, protocol, base_url]);
}
