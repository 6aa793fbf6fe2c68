import type { ListenableSignal } from '../../actors/money/admission-queue.ts';
import type { GenerationModel } from '../../catalogue/catalogue.ts';
import type { GenerationInput, GenerationScene } from '../../catalogue/inputs.ts';
import type { GenerationUsage } from '../../protocols/generation-usage.ts';
import type { Mp4Measures } from '../../storage/mp4.ts';
import type { PartialImage } from '../../upstreams/generation/contract.ts';
import type { Caller } from '../call.ts';
import type { CallRecord } from '../records/call-record.ts';

/** The id of each task begins so. */
export const TASK_ID_PREFIX = 'weir_';

/** One result of a task. */
export interface StoredOutput {
  readonly kind: 'image' | 'video' | 'audio' | 'model' | 'text';
  /** Name of the file in the storage. Text has no file. */
  readonly file?: string;
  readonly content_type?: string;
  /** The text of lyrics. */
  readonly text?: string;
  readonly revised_prompt?: string;
  readonly title?: string;
  /** Duration of the file, seconds. */
  readonly duration?: number;
  readonly width?: number;
  readonly height?: number;
  /** What Weir measured of a video. Its price may depend on it. It is not shown to clients. */
  readonly measured?: Mp4Measures;
  /** The id that a client sends to continue this result. It is never the upstream's own id (P5). */
  readonly clip_id?: string;
}

/** A task as its committed row shows it (spec: Async task record). */
export interface TaskView {
  readonly id: string;
  readonly scene: GenerationScene;
  readonly status: 'pending' | 'processing' | 'completed' | 'failed';
  /** Time of creation, Unix seconds. */
  readonly created: number;
  readonly model: string;
  readonly outputs: readonly StoredOutput[];
  /** The tokens that the upstream reported; null if it reported none, or before the end. */
  readonly tokens: GenerationUsage['tokens'] | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  /** `txn_…`; null before the charge. */
  readonly billing_transaction_id: string | null;
  /** Time until the next poll is useful, seconds. */
  readonly retry_after_s: number;
}

/** A validated create call. */
export interface CreateTask {
  readonly key: Caller;
  /** UUID of the request. */
  readonly request_id: string;
  readonly model: GenerationModel;
  readonly input: GenerationInput;
  /**
   * If true, the response is inline: it waits for the terminal state. If false, the response is a
   * task with the status `pending`.
   */
  readonly wait: boolean;
  readonly idempotency_key?: string;
  /**
   * SHA-256 of the request body, hex. A request with the same idempotency key and another body is
   * refused.
   */
  readonly body_hash: string;
  /** Path of the create route. Idempotency keys of different routes are independent. */
  readonly route: string;
  readonly webhook_url?: string;
  /**
   * Aborted when the client leaves. With `wait` also aborted when the client's deadline passes (see
   * `ClientDeadline`).
   */
  readonly signal: ListenableSignal;
  /**
   * Receives the previews of an image that is streamed. Once there was one, the image is completed and
   * charged, even if the client leaves (P12).
   */
  readonly onPartial?: (partial: PartialImage) => void;
  /** True if a soft limit may move the task: then `create` throws `MoveDue`, and creates nothing. */
  readonly may_move?: boolean;
  /** Notes whether the call created the task. The task keeps its facts. */
  readonly record?: CallRecord;
}

/** A request to watch a task. */
export interface WatchRequest {
  readonly id: string;
  readonly key: Pick<Caller, 'id' | 'organization_id'>;
  /** The last event that the client has. If undefined, the client gets the present state first. */
  readonly known_seq?: number;
  /** Ends the watch. Aborted when the client leaves. */
  readonly signal: AbortSignal;
}

/** What the client of a watch gets next. `seq` is the number of the event in the task's log. */
export type TaskUpdate =
  | {
      readonly type: 'progress';
      readonly seq: number;
      readonly status: 'pending' | 'processing';
      /** Whole percent, 0 to 100; null if the provider reports no progress. */
      readonly progress: number | null;
    }
  /** The task has ended. `view` is its final view, as `TaskPort.find` returns it. */
  | { readonly type: 'ended'; readonly seq: number; readonly view: TaskView }
  /** Nothing changed in the given time. */
  | { readonly type: 'quiet' }
  /** The watch was closed before the task ended. The client can resume. */
  | { readonly type: 'closed' };

/** A watch of one task by one client. It counts against the limits until it is closed. */
export interface TaskWatch {
  /** True if the task has ended and the client has all its events. */
  readonly isOver: boolean;
  /** Waits up to `wait_ms` for the next update. It must not be called again before it resolves. */
  next(wait_ms: number): Promise<TaskUpdate>;
  /** Ends the watch. A second call does nothing. */
  close(): void;
}

/** The part of durable tasks that routes use. */
export interface TaskPort {
  /**
   * Creates a task, or finds the task of the same idempotency key. Without `wait`, it resolves when
   * the task is committed. With `wait`, it resolves when the task has reached its terminal state.
   * Throws WeirError, e.g. 402, `idempotency_key_reused`, `service_unavailable`, or
   * `invalid_request` if the continued result does not exist. With `wait`, it also throws the error
   * of a failed generation. Throws the signal's reason if the signal is aborted.
   */
  create(request: CreateTask): Promise<TaskView>;
  /**
   * Reads a task of the organization without a lock or an upstream call (P11). Returns undefined if
   * the organization has no such task (P6).
   */
  find(id: string, organization_id: string): Promise<TaskView | undefined>;
  /**
   * Watches a task of the key's organization. Any replica may run the task. The caller must have
   * found the task (P6). Throws WeirError `rate_limit_exceeded` or `service_unavailable` if too
   * many watches are open, `invalid_request` if the task has no event `known_seq`, and
   * `async_task_not_found` if there is no such task.
   */
  watch(request: WatchRequest): Promise<TaskWatch>;
  /**
   * Cancels a task of the organization, as far as that is safe (P10). If no upstream can have the
   * task, it fails and its money is released. Otherwise the upstream is requested to cancel its job,
   * and what the upstream then reports decides. Returns when the request is committed. A second call
   * is harmless. `by` is on record with the event. Throws WeirError `service_unavailable`.
   */
  cancel(id: string, organization_id: string, by?: 'operator'): Promise<void>;
}
