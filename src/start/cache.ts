import { systemClock } from '../actors/clock.ts';
import type { CurrentInstallation } from '../config/current-installation.ts';
import type { Environment } from '../config/environment.ts';
import type { Installation } from '../config/installation.ts';
import { AnswerCache, type CacheSettings } from '../inference/cache/answer-cache.ts';

const BYTES_PER_MB = 1024 * 1024;
const MS_PER_HOUR = 3_600_000;
/** How often entries that are too old are looked for, ms. */
const SWEEP_MS = 60_000;

/** Opens the cache of answers of this replica. `stop` ends its sweeps. */
export function openCache(live: CurrentInstallation, { WEIR_CACHE }: Environment) {
  let known: Installation | undefined;
  let settings: CacheSettings;
  const cache = new AnswerCache({
    // Every call reads the settings, so they are computed once for each configuration.
    settings: () => {
      if (known !== live.now) {
        known = live.now;
        settings = settingsOf(known.cache, WEIR_CACHE === 'on');
      }
      return settings;
    },
    channels: () => live.now.channels,
    now: systemClock.now,
    random: Math.random,
  });
  const timer = setInterval(() => cache.removeOld(), SWEEP_MS);
  timer.unref();
  return { cache, stop: () => clearInterval(timer) };
}

function settingsOf(
  { enabled, hours, max_mb, max_entries, max_total_mb }: Installation['cache'],
  isOn: boolean,
): CacheSettings {
  return {
    enabled: enabled && isOn,
    ...{ max_entries, max_age_ms: hours * MS_PER_HOUR },
    ...{ max_bytes: max_mb * BYTES_PER_MB, max_total_bytes: max_total_mb * BYTES_PER_MB },
  };
}
