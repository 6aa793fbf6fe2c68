import type { Logger } from 'pino';
import { readChannelRows } from '../../db/channels/rows.ts';
import type { Sql } from '../../db/client.ts';
import type { CurrentInstallation } from '../config/current-installation.ts';
import { configOfRow } from '../config/row-channels.ts';

const UNREADABLE =
  'the keys of these channels cannot be decrypted, so the channels are off: start Weir with the secret key ' +
  'with which they were made, or send a new api_key for each';

/**
 * Returns a function that reads the channels that operators made, and applies them to the installation.
 * It logs channels whose keys cannot be decrypted, once.
 */
export function operatedChannels(
  sql: Sql,
  live: CurrentInstallation,
  channel_keys: Uint8Array,
  log: Logger,
): () => Promise<void> {
  let logged = '';
  return async () => {
    const rows = await readChannelRows(sql);
    const configs = rows.flatMap((row) => configOfRow(channel_keys, row) ?? []);
    const unreadable = configs.filter(({ api_key }) => api_key === '').map(({ id }) => id);
    const text = unreadable.join(', ');
    if (text !== '' && text !== logged) log.error({ channels: unreadable }, UNREADABLE);
    logged = text;
    live.replaceRows(configs);
  };
}
