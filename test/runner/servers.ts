import { startTestPostgres } from '../support/postgres-server.ts';
import { startTestRedis } from '../support/redis.ts';

export type Environment = Record<string, string | undefined>;

export interface TestServers {
  /** Names the servers to the tests. */
  environment: Environment;
  stop(): Promise<void>;
}

interface Stoppable {
  stop(): Promise<void>;
}

/** Starts the servers that all tests share, side by side. */
export async function startServers(): Promise<TestServers> {
  const running: Stoppable[] = [];
  const stop = async () => {
    await Promise.all(running.map((server) => server.stop()));
  };
  async function keep<T extends Stoppable>(starting: Promise<T>): Promise<T> {
    const server = await starting;
    running.push(server);
    return server;
  }
  const given_redis = process.env['REDIS_URL'];
  const started = await Promise.allSettled([
    keep(startTestPostgres(18)),
    keep(startTestPostgres(15)),
    given_redis === undefined ? keep(startTestRedis()) : { url: given_redis },
  ]);
  const failed = started.find((outcome) => outcome.status === 'rejected');
  if (failed) {
    await stop();
    throw failed.reason;
  }
  const [postgres_18, postgres_15, redis] = started.map((outcome) =>
    outcome.status === 'fulfilled' ? outcome.value.url : undefined,
  );
  return {
    environment: {
      ...cleanEnvironment(),
      WEIR_TEST_DATABASE_URL_18: postgres_18,
      WEIR_TEST_DATABASE_URL_15: postgres_15,
      WEIR_TEST_REDIS_URL: redis,
    },
    stop,
  };
}

/** A developer's own settings must not reach a Weir that a test starts, least of all a real database. */
function cleanEnvironment(): Environment {
  const kept = Object.entries(process.env).filter(
    ([name]) =>
      !['DATABASE_URL', 'REDIS_URL', 'PORT'].includes(name) &&
      (!name.startsWith('WEIR_') || name.startsWith('WEIR_TEST_')),
  );
  return Object.fromEntries(kept);
}
