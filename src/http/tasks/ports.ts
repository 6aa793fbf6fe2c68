import type { TaskPort } from '../../inference/tasks/port.ts';
import type { InferenceRouteDeps } from '../inference-route.ts';

/** The tasks and the storage that the generation routes use. */
export interface GenerationPorts {
  readonly tasks: TaskPort;
  /** The signed path and query of a stored file. They work without a key until they expire. */
  readonly filePath: (name: string) => string;
  /** A stored file; undefined if it does not exist. */
  readonly openFile: (name: string) => Promise<{ readonly stream: ReadableStream } | undefined>;
  /** The origin of result URLs (WEIR_PUBLIC_URL); if undefined, the request's origin. */
  readonly public_url?: string | undefined;
}

/** Dependencies of the generation routes. */
export interface GenerationRouteDeps extends InferenceRouteDeps {
  generation: () => GenerationPorts;
}
