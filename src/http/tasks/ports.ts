import type { TaskPort } from '../../inference/tasks/port.ts';
import type { InferenceRouteDeps } from '../inference-route.ts';

/** What the routes need of tasks and of where their results are kept. */
export interface GenerationPorts {
  readonly tasks: TaskPort;
  /** Path and query under which anybody fetches a stored file until they expire. */
  readonly filePath: (name: string) => string;
  /** A stored file; undefined = not there. */
  readonly openFile: (name: string) => Promise<{ readonly stream: ReadableStream } | undefined>;
  /** Where clients reach us (WEIR_PUBLIC_URL); undefined = where the request came to. */
  readonly public_url?: string | undefined;
}

export interface GenerationRouteDeps extends InferenceRouteDeps {
  generation: () => GenerationPorts;
}
