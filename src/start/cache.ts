import type { Logger } from 'pino';
import type { Bus } from '../actors/bus/bus.ts';
import { systemClock } from '../actors/clock.ts';
import type { CurrentInstallation } from '../config/current-installation.ts';
import type { Environment } from '../config/environment.ts';
import type { Installation } from '../config/installation.ts';
import type { SecretKey } from '../config/secret-key.ts';
import { AnswerCache, type CacheSettings } from '../inference/cache/answer-cache.ts';
import { CacheChanges } from '../inference/cache/cache-changes.ts';
import { CacheRules } from '../inference/cache/cache-rules.ts';
import type { SharedBounds } from '../inference/cache/shared/shared-answers.ts';
import type { CallRecords } from '../inference/records/call-records.ts';
import type { Databases } from './database.ts';
import { logError } from './log.ts';
import { openShared } from './shared-answers.ts';

const BYTES_PER_MB = 1024 * 1024;
const MS_PER_HOUR = 3_600_000;
/** How often entries that are too old are looked for, ms. */
const SWEEP_MS = 60_000;

/** What the changes of the cache need of the running replica. */
interface ChangeParts {
  readonly bus: Bus;
  readonly records: Pick<CallRecords, 'flush'>;
}

/**
 * Opens the cache of answers of this replica. Resolves when the replica knows which answers it must not
 * send again. `follow` makes it obey changes by other replicas, and returns what makes such changes. `stop`
 * ends all timers.
 */
export async function openCache(
  live: CurrentInstallation,
  { WEIR_CACHE, REDIS_URL }: Environment,
  { background, requests }: Pick<Databases, 'background' | 'requests'>,
  key: SecretKey,
  log: Logger,
) {
  const onError = (error: unknown) => logError(log, error);
  let known: Installation | undefined;
  let settings: CacheSettings & SharedBounds;
  // Every call reads the settings, so they are computed once for each configuration.
  const settingsNow = () => {
    if (known !== live.now) {
      known = live.now;
      settings = settingsOf(known.cache, WEIR_CACHE === 'on');
    }
    return settings;
  };
  const shared =
    WEIR_CACHE === 'on' ? await openShared(REDIS_URL, key, settingsNow, log) : undefined;
  const rules = new CacheRules({
    ...{ sql: background.sql, clock: systemClock, onError },
    onChanged: (organization_id) => cache.obeyRules(organization_id),
  });
  const cache = new AnswerCache({
    settings: settingsNow,
    channels: () => live.now.channels,
    ...{ rules, shared: shared?.answers },
    now: systemClock.now,
  });
  await rules.start();
  const timer = setInterval(() => cache.removeOld(), SWEEP_MS);
  timer.unref();
  return {
    cache,
    metrics: () => [
      {
        name: 'weir_cache_redis_late_total',
        help: 'Look-ups in the cache that gave up, because Redis was late.',
        value: shared?.answers.late ?? 0,
      },
      {
        name: 'weir_cache_redis_dropped_total',
        help: 'Answers that were not stored in Redis, because it was away or slow.',
        value: shared?.answers.dropped ?? 0,
      },
    ],
    /** Resolves when no change since the start can be missed. */
    async follow({ bus, records }: ChangeParts): Promise<CacheChanges> {
      bus.subscribe('cache', {
        // A failed read is reported, and repeated.
        onMessage: ({ organization_id }) =>
          void rules.onChanged(organization_id).catch(() => undefined),
        onGap: () => rules.onGap(),
      });
      await rules.start();
      return new CacheChanges({
        ...{ sql: requests.sql, clock: systemClock },
        max_age_ms: () => settingsNow().max_age_ms,
        writeRecords: () => records.flush(),
        announce(organization_id) {
          bus.publish('cache', { organization_id });
          return rules.onChanged(organization_id);
        },
        clearShared: (organization_id) => shared?.answers.purge(organization_id),
      });
    },
    async stop() {
      clearInterval(timer);
      rules.stop();
      await shared?.stop();
    },
  };
}

function settingsOf(
  { enabled, hours, max_mb, max_entries, max_total_mb, max_shared_mb }: Installation['cache'],
  isOn: boolean,
): CacheSettings & SharedBounds {
  return {
    enabled: enabled && isOn,
    ...{ max_entries, max_age_ms: hours * MS_PER_HOUR },
    ...{ max_bytes: max_mb * BYTES_PER_MB, max_total_bytes: max_total_mb * BYTES_PER_MB },
    max_shared_bytes: max_shared_mb * BYTES_PER_MB,
  };
}
