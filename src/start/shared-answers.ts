import type { Logger } from 'pino';
import { systemClock } from '../actors/clock.ts';
import type { SecretKey } from '../config/secret-key.ts';
import { SharedAnswers, type SharedBounds } from '../inference/cache/shared/shared-answers.ts';

const FIRST_RECONNECT_MS = 50;
const LAST_RECONNECT_MS = 1_000;

const OPTIONS = {
  connectTimeout: 2_000,
  // A look-up waits a hundredth of it; then the connection is made anew.
  commandTimeout: 2_000,
  // A command that waits for a connection would be late.
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  retryStrategy: (times: number) => Math.min(FIRST_RECONNECT_MS * times, LAST_RECONNECT_MS),
};

/** Opens the answers that all replicas share. Returns undefined if there is no Redis. */
export async function openShared(
  url: string | undefined,
  key: SecretKey,
  bounds: () => SharedBounds,
  log: Logger,
): Promise<{ readonly answers: SharedAnswers; stop(): Promise<void> } | undefined> {
  if (!url) return undefined;
  // Most installations have no Redis, and its client takes a tenth of the start.
  const { Redis } = await import('ioredis');
  const redis = new Redis(url, OPTIONS);
  redis.on('error', (error) => log.debug({ error: error.message }, 'the cache cannot reach Redis'));
  const answers = new SharedAnswers({
    ...{ redis, bounds, now: systemClock.now },
    value_key: key.for('cached-answers'),
    name_key: key.for('cached-answer-names'),
  });
  return {
    answers,
    async stop() {
      await answers.idle();
      redis.disconnect();
    },
  };
}
