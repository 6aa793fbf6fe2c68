/**
 * Real Redis servers for tests.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import Redis from 'ioredis';
import { dieWithParentPrefix } from '../../db/embedded/privileges.ts';
import { unpackDebianPackages } from './debian-packages.ts';
import { freePort } from './ports.ts';
import { removeFolder, throwawayFolder } from './throwaway.ts';

export interface TestRedis {
  url: string;
  pid: number;
  stop(): Promise<void>;
}

const START_TRIES = 3;
const START_TIMEOUT_MS = 10_000;

let shared: Promise<string> | undefined;

/**
 * URL of the server that all test files share. Tests must not flush it, and their keys need a random prefix. A test
 * that needs its own server calls {@link startTestRedis}, which takes about 30 ms.
 */
export function sharedRedisUrl(): Promise<string> {
  const given = process.env.WEIR_TEST_REDIS_URL ?? process.env.REDIS_URL;
  shared ??=
    given === undefined ? startTestRedis().then((server) => server.url) : Promise.resolve(given);
  return shared;
}

/** Starts a server without files on disk. It ends with this process. */
export async function startTestRedis(): Promise<TestRedis> {
  const program = await findRedis();
  for (let tries_left = START_TRIES - 1; ; tries_left--) {
    try {
      return await launch(program);
    } catch (error) {
      if (tries_left === 0) throw error;
    }
  }
}

async function launch(program: RedisProgram): Promise<TestRedis> {
  const folder = throwawayFolder('redis');
  const port = await freePort();
  const password = randomBytes(16).toString('hex');
  const child = Bun.spawn([...dieWithParentPrefix(), program.path, '-'], {
    cwd: folder,
    env: { ...process.env, ...program.environment },
    detached: true,
    stdin: new Blob([
      `port ${port}\nbind 127.0.0.1\nrequirepass ${password}\nsave ""\nappendonly no\n`,
    ]),
    stdout: 'ignore',
    stderr: 'ignore',
  });
  const stop = async () => {
    child.kill('SIGKILL');
    await child.exited;
    removeFolder(folder);
  };
  const url = `redis://:${password}@127.0.0.1:${port}`;
  try {
    await answering(url, child);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, pid: child.pid, stop };
}

async function answering(url: string, child: Bun.Subprocess): Promise<void> {
  const redis = new Redis(url, {
    lazyConnect: true,
    maxRetriesPerRequest: null,
    retryStrategy: () => 20,
  });
  // The first attempts may come too early, so only the result of PING counts.
  redis.on('error', () => {});
  const deadline = setTimeout(() => redis.disconnect(), START_TIMEOUT_MS);
  child.exited.then(() => redis.disconnect());
  try {
    await redis.ping();
  } finally {
    clearTimeout(deadline);
    redis.disconnect();
  }
}

interface RedisProgram {
  path: string;
  environment: Record<string, string>;
}

let found: Promise<RedisProgram> | undefined;

/** `redis-server` on PATH, else Debian's package unpacked into `.cache`. */
function findRedis(): Promise<RedisProgram> {
  found ??= searchRedis();
  return found;
}

async function searchRedis(): Promise<RedisProgram> {
  const installed = process.env.WEIR_TEST_UNINSTALLED ? null : Bun.which('redis-server');
  if (installed !== null) return { path: installed, environment: {} };
  try {
    const unpacked = await unpackDebianPackages(
      'redis',
      ['redis-server', 'redis-tools'],
      [
        'libjemalloc2',
        'liblzf1',
        'libatomic1',
        'liblua5.1-0',
        'libhiredis0.14',
        'libssl3',
        'libsystemd0',
      ],
    );
    return {
      path: join(unpacked.root, 'usr/bin/redis-server'),
      environment: { LD_LIBRARY_PATH: unpacked.library_dirs.join(':') },
    };
  } catch (cause) {
    throw new Error('The tests need Redis. Install redis-server, or set REDIS_URL.', { cause });
  }
}
