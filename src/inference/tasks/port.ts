import type { GenerationModel } from '../../catalogue/catalogue.ts';
import type { GenerationInput, GenerationScene } from '../../catalogue/inputs.ts';
import type { Caller } from '../call.ts';

/** One result of a task, kept in our storage. */
export interface StoredOutput {
  readonly kind: 'image' | 'video' | 'audio' | 'model' | 'text';
  /** Its name in the storage; absent for text. */
  readonly file?: string;
  readonly content_type?: string;
  /** Lyrics. */
  readonly text?: string;
  readonly revised_prompt?: string;
  readonly title?: string;
  /** Seconds. */
  readonly duration?: number;
  readonly width?: number;
  readonly height?: number;
  /** What a client names to continue from here; never the upstream's own id (P5). */
  readonly clip_id?: string;
}

/** A task as its committed row says (spec: Async task record). */
export interface TaskView {
  readonly id: string;
  readonly scene: GenerationScene;
  readonly status: 'pending' | 'processing' | 'completed' | 'failed';
  /** Unix seconds. */
  readonly created: number;
  readonly model: string;
  readonly outputs: readonly StoredOutput[];
  readonly error: { readonly code: string; readonly message: string } | null;
  /** `txn_…` once settled. */
  readonly billing_transaction_id: string | null;
  /** When asking again is worth it, seconds. */
  readonly retry_after_s: number;
}

/** A checked create call. */
export interface CreateTask {
  readonly key: Caller;
  /** UUID of the request. */
  readonly request_id: string;
  readonly model: GenerationModel;
  readonly input: GenerationInput;
  /** Answer with the terminal state (inline) instead of `pending`. */
  readonly wait: boolean;
  readonly idempotency_key?: string;
  /** SHA-256 of the request body, hex: the same key with another body is refused. */
  readonly body_hash: string;
  /** Path of the create route: keys of different routes never meet. */
  readonly route: string;
  readonly webhook_url?: string;
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal;
}

/** What the routes need of durable tasks. */
export interface TaskPort {
  /**
   * Creates a task, or finds the one of the same idempotency key. Resolves once it is committed; with
   * `wait` at its terminal state. Throws WeirError: 402 …, a reused key; with `wait` also why the
   * generation failed.
   */
  create(ask: CreateTask): Promise<TaskView>;
  /** Reads a task of the organization: no lock, no upstream call (P11). undefined = not there (P6). */
  find(id: string, organization_id: string): Promise<TaskView | undefined>;
}
