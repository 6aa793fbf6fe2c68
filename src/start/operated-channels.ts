import type { Logger } from 'pino';
import { readChannelRows } from '../../db/channels/rows.ts';
import type { Sql } from '../../db/client.ts';
import { type ConfiguredItem, readConfiguredItems } from '../../db/configuration/items.ts';
import type { CurrentInstallation } from '../config/current-installation.ts';
import { configOfRow } from '../config/row-channels.ts';

const UNREADABLE =
  'the keys of these channels cannot be decrypted, so the channels are off: start Weir with the secret key ' +
  'with which they were made, or send a new api_key for each';

const MISFITS =
  'these rows of operators do not fit weir.yaml or this version, so they are not used: ' +
  'GET /v1/operator/models and its siblings say why';

/** The times of a row are no part of what it configures. */
const itemOf = ({ kind, id, value }: ConfiguredItem): ConfiguredItem => ({ kind, id, value });

/**
 * Returns a function that reads what operators configured, and applies it to the installation. It logs
 * channels whose keys cannot be decrypted, and rows that do not fit, once.
 */
export function operatedChannels(
  sql: Sql,
  live: CurrentInstallation,
  channel_keys: Uint8Array,
  log: Logger,
): () => Promise<void> {
  let logged = '';
  let misfits = '';
  return async () => {
    const [rows, items] = await Promise.all([readChannelRows(sql), readConfiguredItems(sql)]);
    const configs = rows.flatMap((row) => configOfRow(channel_keys, row) ?? []);
    const unreadable = configs.filter(({ api_key }) => api_key === '').map(({ id }) => id);
    const text = unreadable.join(', ');
    if (text !== '' && text !== logged) log.error({ channels: unreadable }, UNREADABLE);
    logged = text;
    live.replaceRows(configs, items.map(itemOf));
    const unused = [...live.now.layers.problems.keys()].join(', ');
    if (unused !== '' && unused !== misfits) log.warn({ rows: unused }, MISFITS);
    misfits = unused;
  };
}
