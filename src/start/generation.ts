import { join } from 'node:path';
import type { DurableKind } from '../actors/durable/kind.ts';
import type { CurrentInstallation } from '../config/current-installation.ts';
import { ConfigurationError, type Environment } from '../config/environment.ts';
import type { SecretKey } from '../config/secret-key.ts';
import type { FileRouteDeps } from '../http/files/route.ts';
import type { GenerationPorts } from '../http/tasks/ports.ts';
import {
  type FetchResult,
  ResultMissingError,
  type ResultStorage,
} from '../inference/tasks/deps.ts';
import { BucketStorage } from '../storage/bucket-storage.ts';
import { ForbiddenAddressError } from '../storage/checked-address.ts';
import { FolderStorage } from '../storage/folder-storage.ts';
import { guardedFetch } from '../storage/guarded-fetch.ts';
import { hostAndPort } from '../storage/internal-host.ts';
import { signedPath } from '../storage/signed-path.ts';
import type { FileStorage } from '../storage/storage.ts';
import type { GenerationProtocol } from '../upstreams/generation/contract.ts';
import { GENERATION_PROTOCOLS } from '../upstreams/generation/protocols.ts';
import { guardedHosts } from '../upstreams/transport/http1/guarded-connection.ts';
import type { TaskParts } from './tasks.ts';

/** Parts that a test replaces. */
export interface GenerationOverrides {
  readonly protocols?: Readonly<Record<string, GenerationProtocol | undefined>>;
  readonly storage?: ResultStorage;
  readonly fetchResult?: FetchResult;
  /** Wraps the durable kind `task`, e.g. to watch its effects. */
  readonly decorate?: (kind: DurableKind) => DurableKind;
}

/** What generations (requests for images, videos or music) need from this process. */
export interface Generation {
  readonly parts: Pick<TaskParts, 'protocols' | 'storage' | 'fetchResult' | 'decorate'>;
  /** Key that encrypts the secrets of webhooks. */
  readonly webhook_key: Uint8Array;
  readonly webhook_hosts: ReadonlySet<string>;
  readonly files: NonNullable<FileRouteDeps['files']>;
  readonly ports: Omit<GenerationPorts, 'tasks'>;
}

const RESULTS_FOLDER = 'results';
/** How long a signed address in an answer is valid. Every poll signs a new address. */
const ADDRESS_VALID_S = 24 * 60 * 60;
const MS_PER_S = 1_000;
/** The largest result in bytes. It is enough for several minutes of 4K video. */
const MAX_RESULT_BYTES = 2 * 1024 * 1024 * 1024;
const FETCH_TIMEOUT_MS = 10 * 60 * 1_000;

/** HTTP statuses with which a provider may say that the address of a result has expired. */
const EXPIRED_STATUSES = [400, 401, 403, 404, 410];

/**
 * Returns the protocols, storage and keys of generations. Results are stored in the configured
 * bucket, or else in the data folder. Throws ConfigurationError if the bucket's settings cannot be
 * used.
 */
export function openGeneration(
  environment: Environment,
  live: CurrentInstallation,
  key: SecretKey,
  overrides: GenerationOverrides,
): Generation {
  const storage = openStorage(environment);
  const secret = key.for('file-urls');
  const webhook_hosts = new Set(environment.WEIR_WEBHOOK_ALLOW_HOSTS?.split(',') ?? []);
  return {
    parts: {
      protocols: overrides.protocols ?? GENERATION_PROTOCOLS,
      storage: overrides.storage ?? storage,
      fetchResult: overrides.fetchResult ?? resultFetcher(live),
      ...(overrides.decorate ? { decorate: overrides.decorate } : {}),
    },
    webhook_key: key.for('webhook-secrets'),
    webhook_hosts,
    files: { storage, secret, now: Date.now },
    ports: {
      filePath: (name) => signedPath(secret, name, Date.now() / MS_PER_S + ADDRESS_VALID_S),
      async openFile(name) {
        const file = await storage.open(name);
        return file && { stream: file.stream() };
      },
      public_url: environment.WEIR_PUBLIC_URL,
      webhook_hosts,
    },
  };
}

function openStorage(environment: Environment): FileStorage {
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

/**
 * Returns a function that fetches results from public addresses. It fetches an internal address
 * only if a configured channel has, or had since the start, the same host and port. The function
 * throws ResultMissingError if a retry cannot help.
 */
function resultFetcher(live: CurrentInstallation): FetchResult {
  const channelHosts = () =>
    new Set(live.now.channels.map(({ base_url }) => hostAndPort(new URL(base_url))));
  let allow_hosts = channelHosts();
  live.onChange(() => {
    // A result of a removed channel may still be fetched, so its host stays allowed.
    allow_hosts = new Set([...allow_hosts, ...channelHosts()]);
  });
  return async (url, { headers, signal, is_own }) => {
    const response = await guardedFetch(url, {
      headers,
      signal,
      // What a tenant's account names must not reach the hosts of the operator's channels.
      allow_hosts: is_own ? guardedHosts() : allow_hosts,
      max_bytes: MAX_RESULT_BYTES,
      timeout_ms: FETCH_TIMEOUT_MS,
    }).catch((error: unknown) => {
      throw error instanceof ForbiddenAddressError ? new ResultMissingError(error.message) : error;
    });
    if (response.status === 200) return response;
    await response.stream.cancel();
    const message = `the address of a result returned HTTP ${response.status}`;
    throw EXPIRED_STATUSES.includes(response.status)
      ? new ResultMissingError(message)
      : new Error(message);
  };
}
