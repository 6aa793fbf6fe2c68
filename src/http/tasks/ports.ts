import type { TaskPort } from '../../inference/tasks/port.ts';
import type { InferenceRouteDeps } from '../inference-route.ts';

/** The tasks and the storage that the generation routes use. */
export interface GenerationPorts {
  readonly tasks: TaskPort;
  /**
   * Returns the signed path and query of a stored file. A client that requests them needs no key
   * until they expire.
   */
  readonly filePath: (name: string) => string;
  /** Opens a stored file; undefined if the file does not exist. */
  readonly openFile: (name: string) => Promise<{ readonly stream: ReadableStream } | undefined>;
  /**
   * The origin of result URLs (WEIR_PUBLIC_URL). If undefined, the origin of the request is used.
   */
  readonly public_url?: string | undefined;
  /** Internal hosts that may receive webhooks, as `host:port` (WEIR_WEBHOOK_ALLOW_HOSTS). */
  readonly webhook_hosts?: ReadonlySet<string>;
}

/** Dependencies of the generation routes. */
export interface GenerationRouteDeps extends InferenceRouteDeps {
  generation: () => GenerationPorts;
}
