import type { Sql } from 'postgres';
import { CIRCUIT_CHANNEL, readSwitches, SWITCH_CHANNEL } from '../../db/channels/switches.ts';
import { KEY_CHANNEL } from '../../db/keys.ts';
import { MONEY_CHANNEL, RECALL_CHANNEL } from '../../db/ledger/replicas.ts';
import type { Channels } from '../actors/channels/channels.ts';
import type { CircuitHints } from '../actors/channels/circuit-hints.ts';
import type { Quotas } from '../actors/money/quotas.ts';
import type { KeyCache } from '../inference/keys/key-cache.ts';

/**
 * Subscribes to the announcements of this and other replicas. Announcements are lost while the
 * connection is broken. So each time a subscription starts again, the switches and keys are read
 * again, and waiting calls request money again.
 */
export async function subscribeToNotifications(
  sql: Sql,
  parts: {
    quotas: Quotas;
    keys: KeyCache;
    channels: Channels;
    circuits: CircuitHints;
    onError: (error: unknown) => void;
  },
): Promise<void> {
  const { quotas, keys, channels, circuits, onError } = parts;
  const readAllSwitches = () =>
    readSwitches(sql)
      .then((rows) => channels.applySwitches(new Map(rows.map((row) => [row.channel_id, row]))))
      .catch(onError);
  await sql.listen(SWITCH_CHANNEL, readAllSwitches, readAllSwitches);
  await sql.listen(CIRCUIT_CHANNEL, (payload) => circuits.receive(payload, channels));
  await sql.listen(RECALL_CHANNEL, (payload) => {
    const { seq, organization_id, key_id } = JSON.parse(payload);
    quotas.onRecall(Number(seq), { organization_id, key_id });
  });
  await sql.listen(MONEY_CHANNEL, (organization_id) => quotas.onMoneyReturned(organization_id));
  await sql.listen(
    KEY_CHANNEL,
    (key_id) => {
      keys
        .onKeyChanged(key_id)
        .then((record) => record && quotas.find(key_id)?.onKeyChanged(record.status))
        .catch(onError);
    },
    // Called at each start of the subscription. After a lost connection, announcements were missed.
    () => {
      keys.invalidateAll();
      for (const quota of quotas.all()) quota.onMoneyReturned();
    },
  );
}
