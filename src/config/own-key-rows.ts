import type { OwnKeyRow } from '../../db/upstream-keys/rows.ts';
import { DIALECT_NAMES } from '../protocols/dialects.ts';
import { CHANNEL_PROTOCOLS } from '../protocols/names.ts';
import type { ChannelConfig } from '../upstreams/contract.ts';
import { seal, unseal } from './seal.ts';

/** The channels of own keys have ids that no channel of `weir.yaml` or of an operator can have. */
const OWN_PREFIX = 'own:';
/** What every own key has, like a channel of `weir.yaml` that names nothing else. */
const DEFAULTS = { weight: 1, max_concurrency: 200, timeout_ms: 120_000 };

/** What an own key belongs to. Sealed for one account, it cannot be sent to another (P6). */
type Account = Pick<OwnKeyRow, 'id' | 'organization_id' | 'protocol' | 'base_url'>;

/** Returns the id of the channel of an own key. */
export const channelOfOwnKey = (key_id: string): string => OWN_PREFIX + key_id;

/** True for the id of a channel of an own key. */
export const isOwnChannel = (channel_id: string | null | undefined): boolean =>
  channel_id?.startsWith(OWN_PREFIX) === true;

/** Encrypts an own key for its row. `secret`: the installation's derived key, 32 bytes. */
export function sealOwnKey(secret: Uint8Array, account: Account, api_key: string): string {
  return seal(secret, api_key, contextOf(account));
}

/**
 * Returns an own key; undefined if it is revoked, or if it cannot be decrypted, e.g. because the
 * installation's secret key was changed.
 */
export function openOwnKey(
  secret: Uint8Array,
  row: Account & Pick<OwnKeyRow, 'sealed_key'>,
): string | undefined {
  try {
    return row.sealed_key === '' ? undefined : unseal(secret, row.sealed_key, contextOf(row));
  } catch {
    return undefined;
  }
}

/**
 * Returns the configuration of the channel of an own key. `fee_ppm` is what its calls cost, in
 * millionths of the list price. If the key cannot be decrypted, the channel is disabled. Returns
 * undefined if this version does not know the protocol.
 */
export function configOfOwnKey(
  secret: Uint8Array,
  row: OwnKeyRow,
  fee_ppm: number,
): ChannelConfig | undefined {
  const api_key = openOwnKey(secret, row);
  return ownChannelOf(row, api_key, fee_ppm);
}

/** Like `configOfOwnKey`, for a key that may not be stored yet. */
export function ownChannelOf(
  row: Pick<OwnKeyRow, 'id' | 'protocol' | 'base_url' | 'dialect' | 'api_version' | 'models'> &
    Partial<Pick<OwnKeyRow, 'priority'>>,
  api_key: string | undefined,
  fee_ppm: number,
): ChannelConfig | undefined {
  const protocol = CHANNEL_PROTOCOLS.find((name) => name === row.protocol);
  if (protocol === undefined) return undefined;
  const dialect = DIALECT_NAMES.find((name) => name === row.dialect);
  const { id, base_url, models, priority = 0, api_version } = row;
  return {
    ...{ id: channelOfOwnKey(id), protocol, base_url, models, priority, ...DEFAULTS, fee_ppm },
    ...(dialect === undefined ? {} : { dialect }),
    ...(api_version === null ? {} : { api_version }),
    // A tenant gave the address, so each connection is checked.
    transport: 'guarded',
    api_key: api_key ?? '',
    enabled: api_key !== undefined,
  };
}

function contextOf({ id, organization_id, protocol, base_url }: Account): string {
  return JSON.stringify(['upstream_key', organization_id, id, protocol, base_url]);
}
