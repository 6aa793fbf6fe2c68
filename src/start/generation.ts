import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DurableKind } from '../actors/durable-kind.ts';
import type { Installation } from '../config/installation.ts';
import type { GenerationPorts } from '../http/tasks/ports.ts';
import type { FetchOutput, ResultStorage } from '../inference/tasks/deps.ts';
import type { GenerationProtocol } from '../upstreams/generation/contract.ts';
import type { TaskParts } from './tasks.ts';

/** What a test puts in the place of the real thing. */
export interface Surroundings {
  readonly protocols?: Readonly<Record<string, GenerationProtocol | undefined>>;
  readonly storage?: ResultStorage;
  readonly fetchOutput?: FetchOutput;
  /** Wraps the tasks' kind, e.g. to watch its effects. */
  readonly decorate?: (kind: DurableKind) => DurableKind;
}

/** Providers and stores of generations. */
export interface Generation {
  readonly parts: Pick<
    TaskParts,
    'protocols' | 'storage' | 'fetchOutput' | 'announce' | 'decorate'
  >;
  readonly ports: Omit<GenerationPorts, 'tasks'>;
}

const RESULTS_FOLDER = 'results';

/** Opens the store of results in the data folder. */
export function openGeneration(
  dataDir: string,
  installation: Installation,
  surroundings: Surroundings,
): Generation {
  const pathOf = (name: string) => join(dataDir, RESULTS_FOLDER, name);
  const storage: ResultStorage = {
    async put(name, bytes) {
      mkdirSync(dirname(pathOf(name)), { recursive: true });
      await Bun.write(pathOf(name), new Response(bytes as ReadableStream));
    },
  };
  return {
    parts: {
      protocols: surroundings.protocols ?? {},
      storage: surroundings.storage ?? storage,
      fetchOutput: surroundings.fetchOutput ?? fetchFromChannels(installation),
      announce: async () => undefined,
      ...(surroundings.decorate ? { decorate: surroundings.decorate } : {}),
    },
    ports: {
      filePath: (name) => `/v1/files/${name}`,
      openFile: async (name) => {
        const file = Bun.file(pathOf(name));
        return (await file.exists()) ? { stream: file.stream() } : undefined;
      },
    },
  };
}

/** Only from where the channels are: nobody else's address is trusted. */
function fetchFromChannels(installation: Installation): FetchOutput {
  const origins = new Set(installation.channels.map(({ base_url }) => new URL(base_url).origin));
  return async (url, { headers, signal }) => {
    if (!origins.has(new URL(url).origin)) throw new Error('a result at an unknown address');
    const response = await fetch(url, { headers, signal, redirect: 'error' });
    if (!response.ok || !response.body) throw new Error(`a result answered ${response.status}`);
    return { stream: response.body, content_type: response.headers.get('content-type') ?? '' };
  };
}
