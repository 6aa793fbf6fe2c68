import type { Logger } from 'pino';
import { Audit } from '../actors/audit.ts';
import { Channels } from '../actors/channels.ts';
import { systemClock, systemIds } from '../actors/clock.ts';
import { Lane } from '../actors/lane.ts';
import { Quotas } from '../actors/quotas.ts';
import { Replica } from '../actors/replica.ts';
import type { Installation } from '../config/installation.ts';
import { KeyRing } from '../http/auth/key-ring.ts';
import { Inference } from '../inference/inference.ts';
import type { Databases } from './database.ts';
import type { Generation } from './generation.ts';
import { listenToHints } from './hints.ts';
import { logError } from './log.ts';
import { composeTasks } from './tasks.ts';

/** Everything of this replica that lives between requests (design 3). */
export async function startActors(
  databases: Databases,
  installation: Installation,
  generation: Generation,
  log: Logger,
) {
  const onError = (error: unknown) => logError(log, error);
  const lane = new Lane({ sql: databases.lane.sql, clock: systemClock, onError });
  const replica: Replica = new Replica({
    sql: databases.background.sql,
    clock: systemClock,
    lane,
    exclusive: databases.exclusive,
    onFenced: () => quotas.fence(),
    onError,
  });
  await replica.start();
  const quotas = new Quotas({
    lane,
    clock: systemClock,
    ids: systemIds,
    replicaId: () => replica.id,
    mayAdmit: () => replica.isAlive(),
    onFenced: () => log.warn('a grant was closed by another replica'),
  });
  const keys = new KeyRing(databases.requests.orm, Date.now);
  const channels = new Channels(installation.channels, systemClock);
  await listenToHints(databases.background.sql, { quotas, keys, onError });
  const inference = new Inference({
    quotas,
    channels,
    catalogue: installation.catalogue,
    now: systemClock.now,
    random: Math.random,
    onError: (error, requestId) => logError(log, error, requestId),
  });
  const durable = composeTasks({
    ...generation.parts,
    requests: databases.requests.sql,
    durable: databases.durable.sql,
    background: databases.background.sql,
    clock: systemClock,
    ids: systemIds,
    random: Math.random,
    quotas,
    channels,
    catalogue: installation.catalogue,
    replica,
    onError: (error, taskId) => logError(log, error, taskId),
  });
  durable.start();
  const audit = new Audit({
    sql: databases.background.sql,
    clock: systemClock,
    onImbalance: (imbalances) => log.error({ imbalances }, 'the books do not add up'),
    onError,
  });
  return {
    replica,
    keys,
    inference,
    tasks: durable.tasks,
    onKeyChanged: (id: string, status: 'active' | 'inactive' | 'suspended' | 'revoked') =>
      quotas.find(id)?.keyChanged(status),
    metrics: () => [
      {
        name: 'weir_ledger_imbalances',
        help: 'Organizations, keys, grants and holds whose books do not add up; must be 0.',
        value: audit.imbalances,
      },
      {
        name: 'weir_lane_depth',
        help: 'Ledger commands that wait for their commit.',
        value: lane.depth,
      },
      {
        name: 'weir_effects_running',
        help: 'Effects of durable actors that run now.',
        value: durable.outbox.size,
      },
      { name: 'weir_quota_actors', help: 'API keys in use on this replica.', value: quotas.size },
    ],
    async stop() {
      await audit.stop();
      await durable.stop();
      await quotas.close();
      await lane.drain();
      await replica.stop();
    },
  };
}
