import { findOrganizationStatus } from '../../db/accounts/organizations.ts';
import { readSwitches } from '../../db/channels/switches.ts';
import type { Database } from '../../db/client.ts';
import { findRestrictedKeys } from '../../db/keys.ts';
import { readLastRecall } from '../../db/ledger/replicas.ts';
import type { Bus } from '../actors/bus/bus.ts';
import { Reread } from '../actors/bus/reread.ts';
import type { Channels } from '../actors/channels/channels.ts';
import type { CircuitHints } from '../actors/channels/circuit-hints.ts';
import type { Clock } from '../actors/clock.ts';
import type { Quotas } from '../actors/money/quotas.ts';
import type { KeyCache } from '../inference/keys/key-cache.ts';

/** The parts that receive messages of the bus. */
export interface SubscribedParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly quotas: Quotas;
  readonly keys: KeyCache;
  readonly channels: Channels;
  readonly circuits: CircuitHints;
  /** Reads the rows that operators configure, and applies them. */
  readonly readChannels: () => Promise<void>;
  /** Reads the own keys of an organization, or of all, and applies them. */
  readonly readOwnKeys: (organization_id?: string) => Promise<void>;
  /** Reads the tags that budgets of an organization limit, or of all, and applies them. */
  readonly readBudgetedTags: (organization_id?: string) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/**
 * Subscribes the parts of this replica to the bus. If messages may be missing (a gap), each part
 * reads the database again:
 *
 * - switches, what operators configure, own keys and budgeted tags of organizations: all rows.
 * - keys and organizations: the cache is emptied. Quota actors with money get the status of their keys
 *   and organizations.
 * - money: every waiting call requests money again.
 * - recalls: the number of the latest recall. If it is new, every quota actor returns its unused
 *   money. A call that waits for a recall also repeats it.
 * - circuits: nothing. The replica's own failed attempts open its circuits.
 *
 * Returns `applySwitches`, `applyChannels`, `applyOwnKeys` and `applyBudgetedTags`, which resolve when the committed rows are applied, and
 * `stop`.
 */
export function subscribeParts(bus: Bus, parts: SubscribedParts) {
  const { database, clock, quotas, keys, channels, circuits, onError } = parts;
  const { readChannels, readOwnKeys, readBudgetedTags } = parts;
  const reread = (read: () => Promise<void>) => new Reread({ clock, read, onError });
  const switches = reread(async () => {
    const rows = await readSwitches(database.sql);
    channels.applySwitches(new Map(rows.map((row) => [row.channel_id, row])));
  });
  const operated = reread(readChannels);
  const ownKeys = reread(() => readOwnKeys());
  const budgetedTags = reread(() => readBudgetedTags());
  const recalls = reread(async () => quotas.onRecallsMissed(await readLastRecall(database.sql)));
  const restrictions = reread(async () => {
    const holders = [...quotas.all()].filter((quota) => !quota.isEmpty);
    const ids = holders.map((quota) => quota.key_id);
    for (const key of await findRestrictedKeys(database.orm, ids)) {
      quotas.onKeyChanged(key.id, key.status, key.organization_status);
    }
  });
  const onKeyChanged = async (key_id: string) => {
    const record = await keys.onKeyChanged(key_id);
    if (record) quotas.onKeyChanged(key_id, record.status, record.organization_status);
  };
  const onOrganizationChanged = async (organization_id: string) => {
    keys.invalidateOrganization(organization_id);
    const status = await findOrganizationStatus(database.sql, organization_id);
    if (status) quotas.onOrganizationChanged(organization_id, status);
    await readOwnKeys(organization_id);
  };
  const onChangesMissed = () => {
    keys.invalidateAll();
    restrictions.request();
  };
  bus.subscribe('switch', {
    onMessage: () => switches.request(),
    onGap: () => switches.request(),
  });
  bus.subscribe('channels', {
    onMessage: () => operated.request(),
    onGap: () => operated.request(),
  });
  bus.subscribe('own_keys', {
    onMessage: ({ organization_id }) => {
      readOwnKeys(organization_id).catch((error: unknown) => {
        onError(error);
        ownKeys.request();
      });
    },
    onGap: () => ownKeys.request(),
  });
  bus.subscribe('tag_budgets', {
    onMessage: ({ organization_id }) => {
      readBudgetedTags(organization_id).catch((error: unknown) => {
        onError(error);
        budgetedTags.request();
      });
    },
    onGap: () => budgetedTags.request(),
  });
  bus.subscribe('circuit', {
    onMessage: (message) => circuits.receive(message, channels),
    onGap: () => undefined,
  });
  bus.subscribe('recall', {
    onMessage: ({ seq, ...scope }) => quotas.onRecall(seq, scope),
    onGap: () => recalls.request(),
  });
  bus.subscribe('money', {
    onMessage: ({ organization_id }) => quotas.onMoneyReturned(organization_id),
    onGap: () => {
      for (const quota of quotas.all()) quota.onMoneyReturned();
    },
  });
  bus.subscribe('key', {
    onMessage: ({ key_id }) => {
      onKeyChanged(key_id).catch((error: unknown) => {
        onError(error);
        restrictions.request();
      });
    },
    onGap: onChangesMissed,
  });
  bus.subscribe('organization', {
    onMessage: ({ organization_id }) => {
      onOrganizationChanged(organization_id).catch((error: unknown) => {
        onError(error);
        restrictions.request();
        ownKeys.request();
      });
    },
    onGap: onChangesMissed,
  });
  return {
    applySwitches: () => switches.readNow(),
    applyChannels: () => operated.readNow(),
    applyOwnKeys: () => ownKeys.readNow(),
    applyBudgetedTags: () => budgetedTags.readNow(),
    stop() {
      const all = [switches, operated, ownKeys, budgetedTags, recalls, restrictions];
      for (const each of all) each.stop();
    },
  };
}
