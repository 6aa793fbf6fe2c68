import type { Logger } from 'pino';
import type { Sql } from '../../db/client.ts';
import { readUsableKeys, storeRefusal, type UsableOwnKey } from '../../db/upstream-keys/rows.ts';
import { type OwnKeySet, OwnKeys } from '../actors/channels/own-keys.ts';
import { systemClock } from '../actors/clock.ts';
import type { CurrentInstallation } from '../config/current-installation.ts';
import { channelOfOwnKey, configOfOwnKey, openOwnKey } from '../config/own-key-rows.ts';
import { logError } from './log.ts';

/** The longest stored text of a provider. */
const MAX_SAID_CHARS = 500;
/** The most refusals that wait to be stored. Further ones are dropped: the next refusal is stored. */
const MAX_UNSTORED = 100;
const UNREADABLE =
  'own keys of organizations cannot be decrypted, so their calls fail: start Weir with the secret key with ' +
  'which they were made';

/** The own keys of all organizations on this replica. */
export interface RunningOwnKeys {
  readonly keys: OwnKeys;
  /** Reads the committed own keys of one organization, or of all, and applies them. */
  readonly read: (organization_id?: string) => Promise<void>;
  /** Resolves when all refusals are stored. */
  readonly stop: () => Promise<void>;
}

/** Opens the own keys of organizations. `secret` encrypts them. The caller reads them first. */
export function startOwnKeys(
  sql: Sql,
  live: CurrentInstallation,
  secret: Uint8Array,
  log: Logger,
): RunningOwnKeys {
  const unstored = new Set<Promise<void>>();
  const keys = new OwnKeys({
    clock: systemClock,
    fee_ppm: () => live.now.own_key_fee_ppm,
    onRefused({ channel_id, model, message }) {
      if (unstored.size >= MAX_UNSTORED) return;
      const refusal = { model, message: message.slice(0, MAX_SAID_CHARS) };
      const id = channel_id.slice(channelOfOwnKey('').length);
      const stored = storeRefusal(sql, id, refusal)
        .catch((error: unknown) => logError(log, error))
        .finally(() => unstored.delete(stored));
      unstored.add(stored);
    },
  });
  let fee_ppm = live.now.own_key_fee_ppm;
  live.onChange((now) => {
    if (now.own_key_fee_ppm !== fee_ppm) keys.forgetAll();
    fee_ppm = now.own_key_fee_ppm;
  });
  keys.start();
  const keyOf = (row: UsableOwnKey) => ({
    channel_id: channelOfOwnKey(row.id),
    models: row.models,
    // Only a change of these members is another account, or needs another configuration.
    version: JSON.stringify([row.sealed_key, row.models, row.priority]),
    configure: () => configOfOwnKey(secret, row, live.now.own_key_fee_ppm),
  });
  let last: Promise<unknown> = Promise.resolve();
  let warned = 0;
  const apply = async (organization_id: string | undefined) => {
    const rows = await readUsableKeys(sql, organization_id);
    if (organization_id !== undefined) {
      keys.replace(organization_id, setsOf(rows, keyOf).get(organization_id));
      return;
    }
    keys.replaceAll(setsOf(rows, keyOf));
    const unreadable = rows.filter((row) => openOwnKey(secret, row) === undefined).length;
    if (unreadable > 0 && unreadable !== warned) log.error({ keys: unreadable }, UNREADABLE);
    warned = unreadable;
  };
  return {
    keys,
    read(organization_id) {
      // One read runs at a time, so an older result never replaces a newer one.
      const read = last.catch(() => undefined).then(() => apply(organization_id));
      last = read;
      return read;
    },
    async stop() {
      keys.stop();
      await Promise.all(unstored);
    },
  };
}

function setsOf(
  rows: readonly UsableOwnKey[],
  keyOf: (row: UsableOwnKey) => OwnKeySet['keys'][number],
): ReadonlyMap<string, OwnKeySet> {
  const sets = new Map<string, { mode: OwnKeySet['mode']; keys: OwnKeySet['keys'][number][] }>();
  for (const row of rows) {
    const { organization_id, own_keys: mode } = row;
    const set = sets.get(organization_id) ?? { mode, keys: [] };
    set.keys.push(keyOf(row));
    sets.set(organization_id, set);
  }
  return sets;
}
