/** One attempt on a channel. Times count from the arrival of the request, ms. */
export interface RecordedAttempt {
  readonly channel_id: string;
  readonly started_ms: number;
  /** Null while the attempt runs. */
  readonly ended_ms: number | null;
  /** Null if the attempt succeeded; otherwise the class of its failure, e.g. `timeout`. */
  readonly failure: string | null;
  /** Whose fault the failure is; null if the attempt succeeded. */
  readonly fault: string | null;
}

/**
 * What a task keeps of its create call and its attempts. The replica that ends the task writes them
 * into the record of the task.
 */
export interface TaskFacts
  extends Pick<CallFacts, 'protocol' | 'program' | 'authenticated_us' | 'reserved_us'>,
    Pick<CallDetail, 'end_user' | 'tags' | 'stream' | 'reached' | 'moved_from'> {
  readonly vendor: string;
  /** The latest one is the last. Only the first ones are kept of a task that had many. */
  readonly attempts: readonly RecordedAttempt[];
}

/** A part of a charge as it was computed (`ChargePart` of the catalogue). */
export interface RecordedPart {
  readonly kind: string;
  readonly quantity: number;
  readonly unit: string;
  /** Pico-USD of one unit. */
  readonly pico_usd: number;
  readonly when?: Readonly<Record<string, string | number | boolean>>;
}

/** Why a call did not move to the model that a soft limit names. */
export type NotMoved = 'not_cheaper' | 'not_able';

/** A soft budget, or a soft limit of a key, that a call exceeded. */
export interface ReachedLimit {
  readonly type: 'budget' | 'requests_per_minute' | 'tokens_per_minute' | 'concurrent_calls';
  /** The id, the period and the owner of a budget. */
  readonly budget_id?: string;
  readonly period?: 'day' | 'week' | 'month';
  readonly owner?: 'organization' | 'api_key' | 'tag';
  /** The model of a limit of a key. Missing if it is for all models. */
  readonly model?: string;
  /** The time until such a call may fit, seconds. Missing if it never does. */
  readonly frees_in_s?: number;
  /** Set if the limit moves calls, and this call did not move. */
  readonly not_moved?: NotMoved;
}

/** Facts that few calls have. A member is missing if the call lacks it. */
export interface CallDetail {
  /** Present if a call had another attempt than one that succeeded. */
  readonly attempts?: readonly RecordedAttempt[];
  /** The end user, as the client named it (`user`, `metadata.user_id`). */
  readonly end_user?: string;
  /** The client's own tags (`metadata`). */
  readonly tags?: Readonly<Record<string, string>>;
  /** What the price counts beside tokens, e.g. `{ seconds: 12 }`. */
  readonly units?: Readonly<Record<string, number>>;
  /** What the price counts beside the columns of tokens, e.g. `{ web_searches: 2 }`. */
  readonly counts?: Readonly<Record<string, number>>;
  /**
   * The parts of the charge of a task, or of an answer from the cache. Other charges follow from their
   * counts and the price.
   */
  readonly charge?: readonly RecordedPart[];
  /** The entry of the cache that answered the call, or whose rest the call paid. */
  readonly cache_entry_id?: string;
  /** The age of that entry, seconds; 0 if it was the answer of an identical call that still ran. */
  readonly cache_age_s?: number;
  /** What the answer from the cache saved the organization, nano-USD. */
  readonly saved_nano_usd?: number;
  /** What the provider said that the operator pays, nano-USD. Internal: for operators only. */
  readonly paid_nano_usd?: number;
  /** Why an answer is incomplete, if it was charged all the same. */
  readonly error_code?: string;
  /** Whose fault that is. */
  readonly fault?: string;
  /** The soft budgets and limits that the call exceeded. */
  readonly reached?: readonly ReachedLimit[];
  /** The model that the client asked for, if a soft limit moved the call to another one. */
  readonly moved_from?: string;
  /** True if the client asked for a stream. */
  readonly stream?: true;
  /** The message batch whose item the call is, or that the call created. */
  readonly batch_id?: string;
  /** The task whose charge the line is. */
  readonly task_id?: string;
}

/** What a row says of its call beside its money. Offsets count from the arrival of the request. */
export interface CallFacts {
  /** The date of the call, ms since the Unix epoch. */
  readonly at_ms: number;
  readonly protocol: string;
  readonly program: string;
  readonly authenticated_us: number | null;
  readonly reserved_us: number | null;
  readonly routed_us: number | null;
  readonly first_token_ms: number | null;
  readonly ended_ms: number | null;
  /** True if the call looked for its answer in the cache. */
  readonly looked_up?: boolean | undefined;
  /** Undefined if the call has none of these facts. */
  readonly detail: CallDetail | undefined;
}
