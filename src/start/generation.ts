import { join } from 'node:path';
import type { DurableKind } from '../actors/durable/kind.ts';
import type { CurrentInstallation } from '../config/current-installation.ts';
import { ConfigurationError, type Environment } from '../config/environment.ts';
import { openSecretKey } from '../config/secret-key.ts';
import type { FileRouteDeps } from '../http/files/route.ts';
import type { GenerationPorts } from '../http/tasks/ports.ts';
import {
  type FetchOutput,
  ResultMissingError,
  type ResultStorage,
} from '../inference/tasks/deps.ts';
import { BucketStorage } from '../storage/bucket-storage.ts';
import { FolderStorage } from '../storage/folder-storage.ts';
import { ForbiddenAddressError, guardedFetch } from '../storage/guarded-fetch.ts';
import { signedPath } from '../storage/signed-path.ts';
import type { Storage } from '../storage/storage.ts';
import type { GenerationProtocol } from '../upstreams/generation/contract.ts';
import { GENERATION_PROTOCOLS } from '../upstreams/generation/protocols.ts';
import type { TaskParts } from './tasks.ts';

/** What a test puts in the place of the real thing. */
export interface GenerationOverrides {
  readonly protocols?: Readonly<Record<string, GenerationProtocol | undefined>>;
  readonly storage?: ResultStorage;
  readonly fetchOutput?: FetchOutput;
  /** Wraps the tasks' kind, e.g. to watch its effects. */
  readonly decorate?: (kind: DurableKind) => DurableKind;
}

/** Providers and stores of generations. */
export interface Generation {
  readonly parts: Pick<TaskParts, 'protocols' | 'storage' | 'fetchOutput' | 'decorate'>;
  /** Seals the secrets of webhooks. */
  readonly webhook_key: Uint8Array;
  readonly webhook_hosts: ReadonlySet<string>;
  readonly files: NonNullable<FileRouteDeps['files']>;
  readonly ports: Omit<GenerationPorts, 'tasks'>;
}

const RESULTS_FOLDER = 'results';
/** How long an address in an answer stays good; every poll signs a fresh one. */
const ADDRESS_LIFE_S = 24 * 60 * 60;
const MS = 1_000;
/** The largest result: minutes of video in 4k. */
const MAX_RESULT_BYTES = 2 * 1024 * 1024 * 1024;
const FETCH_TIMEOUT_MS = 10 * 60 * 1_000;

/** How addresses answer whose time is over, at one provider or another. */
const EXPIRED = [400, 401, 403, 404, 410];

/** Opens the store of results, in the data folder or in the configured bucket (design 6). */
export function openGeneration(
  environment: Environment,
  live: CurrentInstallation,
  surroundings: GenerationOverrides,
): Generation {
  const storage = openStorage(environment);
  const key = openSecretKey(environment.WEIR_SECRET_KEY, environment.WEIR_DATA);
  const secret = key.for('file-urls');
  return {
    parts: {
      protocols: surroundings.protocols ?? GENERATION_PROTOCOLS,
      storage: surroundings.storage ?? storage,
      fetchOutput: surroundings.fetchOutput ?? outputFetcher(live),
      ...(surroundings.decorate ? { decorate: surroundings.decorate } : {}),
    },
    webhook_key: key.for('webhook-secrets'),
    webhook_hosts: new Set(environment.WEIR_WEBHOOK_ALLOW_HOSTS?.split(',') ?? []),
    files: { storage, secret, now: Date.now },
    ports: {
      filePath: (name) => signedPath(secret, name, Date.now() / MS + ADDRESS_LIFE_S),
      async openFile(name) {
        const file = await storage.open(name);
        return file && { stream: file.stream() };
      },
      public_url: environment.WEIR_PUBLIC_URL,
    },
  };
}

function openStorage(environment: Environment): Storage {
  const {
    WEIR_S3_BUCKET: bucket,
    WEIR_S3_ENDPOINT: endpoint,
    WEIR_S3_REGION: region,
    WEIR_S3_ACCESS_KEY_ID: access_key_id,
    WEIR_S3_SECRET_ACCESS_KEY: secret_access_key,
  } = environment;
  if (bucket === undefined) return new FolderStorage(join(environment.WEIR_DATA, RESULTS_FOLDER));
  if (access_key_id === undefined || secret_access_key === undefined) {
    throw new ConfigurationError(
      'WEIR_S3_BUCKET needs WEIR_S3_ACCESS_KEY_ID and WEIR_S3_SECRET_ACCESS_KEY.',
    );
  }
  return new BucketStorage({ bucket, endpoint, region, access_key_id, secret_access_key });
}

/** An internal address is fetched only where the operator put a channel himself. */
function outputFetcher(live: CurrentInstallation): FetchOutput {
  const hosts = () =>
    new Set(live.now.channels.map(({ base_url }) => hostAndPort(new URL(base_url))));
  let allow_hosts = hosts();
  live.onChange(() => {
    // What a channel made that is gone may still be fetched.
    allow_hosts = new Set([...allow_hosts, ...hosts()]);
  });
  return async (url, { headers, signal }) => {
    const answer = await guardedFetch(url, {
      headers,
      signal,
      allow_hosts,
      max_bytes: MAX_RESULT_BYTES,
      timeout_ms: FETCH_TIMEOUT_MS,
    }).catch((error: unknown) => {
      throw error instanceof ForbiddenAddressError ? new ResultMissingError(error.message) : error;
    });
    if (answer.status === 200) return answer;
    await answer.stream.cancel();
    const message = `a result answered ${answer.status}`;
    throw EXPIRED.includes(answer.status) ? new ResultMissingError(message) : new Error(message);
  };
}

function hostAndPort({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
}
