import type { Tags } from '../../../db/budgets/tags.ts';
import type {
  CallDetail,
  CallFacts,
  NotMoved,
  ReachedLimit,
  RecordedAttempt,
  TaskFacts,
} from '../../../db/records/record.ts';
import type { CatalogueModel } from '../../catalogue/catalogue.ts';
import type { RetryableUpstreamError } from '../../upstreams/contract.ts';
import type { DebugCopyDraft } from '../debug/debug-copy.ts';
import { storable } from './storable.ts';

/** How a call without a charge ended (`call_record.outcome`). */
export type FreeOutcome =
  | 'refused'
  | 'failed'
  | 'canceled'
  | 'repeated'
  | 'cached'
  | 'accepted'
  | 'free';

/** The key that a call was authenticated with. */
export interface RecordedKey {
  readonly id: string;
  readonly organization_id: string;
  /** Tags of each call with the key. They replace those of the client with the same names. */
  readonly call_tags?: Tags;
}

/** What is known of a request when its key is known. */
export interface RecordedRequest {
  /** UUID of the request. */
  readonly id: string;
  /** When the head of the request arrived, a value of `performance.now()`, ms. */
  readonly arrived_ms: number;
  readonly protocol: string;
  /** The start of `User-Agent`. */
  readonly program: string;
}

/** An attempt that may still run. */
type Attempt = { -readonly [Name in keyof RecordedAttempt]: RecordedAttempt[Name] };

/** Receives each call once, when it has ended. */
export type OnCallEnded = (record: CallRecord) => void;

/** The longest name of a model that is stored of a client's text. */
const MAX_MODEL_CHARS = 100;
/** The longest name or value of a tag, and the longest name of an end user. */
const MAX_TAG_CHARS = 512;
/** OpenAI takes 16 pairs (OpenAI docs: Chat Completions, metadata). */
const MAX_TAGS = 16;
const US_PER_MS = 1_000;
/** The value 0 of `performance.now()`, ms since the Unix epoch. */
const ORIGIN_MS = performance.timeOrigin;
/** The largest value of a column of offsets. */
const MAX_INT4 = 2_147_483_647;

/**
 * What Weir knows of one authenticated call while it runs. The parts of the call note their times
 * here. When the call is charged, its usage line has these facts; otherwise a row of `call_record`.
 */
export class CallRecord {
  /** '' until the model is known. */
  scene = '';
  model = '';
  vendor = '';
  /** The channel of the latest attempt; '' before the first. */
  channel_id = '';
  stream = false;
  end_user: string | undefined;
  tags: Tags | undefined;
  /** The reserved amount, nano-USD. 0 after the reservation has ended. */
  held_nano_usd = 0;
  status = 200;
  error_code: string | null = null;
  fault: string | null = null;
  outcome: FreeOutcome = 'free';
  task_id: string | undefined;
  batch_id: string | undefined;
  /** True if the response is a stream, which ends after its handler. */
  lasts = false;
  /** True if a usage line has the facts of the call. */
  isCharged = false;
  /** True if the call created a task. The task has the facts, and its end writes the record. */
  hasTask = false;
  /** The copy of the call. Set while a debug window is open. */
  copy: DebugCopyDraft | undefined;
  /** The output tokens that were received so far, estimated. */
  tokens_so_far = 0;
  /** True if the call looked for its answer in the cache. */
  looked_up = false;
  /** The soft budgets and limits that the call exceeded; undefined if there are none. */
  reached: ReachedLimit[] | undefined;
  /** The model that the client asked for, if the call moved to another one. */
  moved_from: string | undefined;
  /** What an answer of another call adds to the detail. */
  private hit: CallDetail | undefined;
  /** When the key was known, when the money was reserved, when the latest attempt began … */
  private readonly authenticated_ms: number;
  private reserved_ms: number | undefined;
  private routed_ms: number | undefined;
  private first_token_ms: number | undefined;
  /** When the call ended, a value of `performance.now()`, ms; undefined while it runs. */
  ended_ms: number | undefined;
  /** All attempts, the latest too. Undefined while there is only one, which has not failed. */
  private attempts: Attempt[] | undefined;

  constructor(
    readonly request: RecordedRequest,
    readonly key: RecordedKey,
    private readonly onEnded: OnCallEnded,
  ) {
    this.authenticated_ms = performance.now();
    if (key.call_tags) this.addTags(key.call_tags);
  }

  get hasEnded(): boolean {
    return this.ended_ms !== undefined;
  }

  /** The stage of a running call. */
  get stage(): 'admitting' | 'reserved' | 'calling' | 'answering' {
    if (this.first_token_ms !== undefined) return 'answering';
    if (this.routed_ms !== undefined) return 'calling';
    return this.reserved_ms === undefined ? 'admitting' : 'reserved';
  }

  /** When the request arrived, ms since the Unix epoch. */
  get arrived_at_ms(): number {
    return ORIGIN_MS + this.request.arrived_ms;
  }

  /** Notes what the client asked for: the model as it named it, its end user and its tags. */
  ask({ model, user, metadata }: Readonly<Record<string, unknown>>): void {
    if (typeof user === 'string') this.end_user = storable(user, MAX_TAG_CHARS);
    if (typeof metadata === 'object' && metadata !== null) this.tag(metadata);
    if (typeof model === 'string') this.model = storable(model, MAX_MODEL_CHARS);
  }

  /** Adds tags; those with a name that is known replace it. */
  addTags(tags: Tags): void {
    // Most keys have none.
    if (Object.keys(tags).length > 0) this.tags = { ...this.tags, ...tags };
  }

  /** Notes the model that serves the call, and whether the answer is a stream. */
  resolve({ id, owned_by }: CatalogueModel, scene: string, stream = false): void {
    this.stream = stream;
    this.model = id;
    this.vendor = owned_by;
    this.scene = scene;
  }

  /**
   * Notes soft budgets and limits that the call exceeds, each one once. `not_moved` is the reason if they move
   * calls, and this call stays.
   */
  reach(limits: readonly ReachedLimit[], not_moved?: NotMoved): void {
    for (const limit of limits) {
      this.reached ??= [];
      const isKnown = this.reached.some(
        ({ type, budget_id, model }) =>
          type === limit.type && budget_id === limit.budget_id && model === limit.model,
      );
      if (!isKnown) this.reached.push(not_moved ? { ...limit, not_moved } : limit);
    }
  }

  /** Notes that the call moves to another model, before that one is known. */
  moveFrom(model: string): void {
    this.moved_from = model;
  }

  /** Notes that money is reserved, nano-USD. */
  reserve(amount: number): void {
    this.reserved_ms = performance.now();
    this.held_nano_usd = amount;
  }

  /** Notes that an attempt on a channel begins. */
  tryChannel(channel_id: string): void {
    if (this.channel_id !== '') this.attempts ??= [this.latestAttempt()];
    this.routed_ms = performance.now();
    this.channel_id = channel_id;
    this.attempts?.push(this.latestAttempt());
  }

  /** Notes that the latest attempt on a channel failed. */
  failChannel(channel_id: string, error: RetryableUpstreamError | undefined): void {
    this.attempts ??= [this.latestAttempt()];
    const attempt = this.attempts.findLast((each) => each.channel_id === channel_id);
    if (!attempt) return;
    attempt.ended_ms = this.offset(performance.now());
    attempt.failure = error?.failure ?? 'client';
    attempt.fault = error?.fault ?? 'caller';
  }

  /** Notes the first part of the answer. */
  answer(): void {
    this.first_token_ms ??= performance.now();
  }

  /** Notes that the call is answered from the cache. `hit` has the entry and what it saved. */
  answerFromCache(hit: CallDetail): void {
    this.outcome = 'cached';
    this.looked_up = true;
    this.hit = hit;
    this.answer();
  }

  /** Notes that the call pays the rest of an answer that another call began, and whose entry this is. */
  payRestOf(cache_entry_id: string): void {
    this.hit = { cache_entry_id };
  }

  /** Ends the call. Only the first end has an effect. */
  end(outcome = this.outcome): void {
    if (this.ended_ms !== undefined) return;
    this.outcome = outcome;
    this.ended_ms = performance.now();
    this.held_nano_usd = 0;
    this.onEnded(this);
    this.copy?.endTapped();
  }

  /** Returns the facts for a row. `more` is added to the detail. */
  facts(more?: CallDetail): CallFacts {
    const { arrived_ms, protocol, program } = this.request;
    const { reserved_ms, first_token_ms } = this;
    return {
      at_ms: Math.floor(ORIGIN_MS + (reserved_ms ?? arrived_ms)),
      protocol,
      program,
      authenticated_us: this.microseconds(this.authenticated_ms),
      reserved_us: this.microseconds(reserved_ms),
      routed_us: this.microseconds(this.routed_ms),
      first_token_ms: first_token_ms === undefined ? null : this.offset(first_token_ms),
      ended_ms: this.offset(this.ended_ms ?? performance.now()),
      looked_up: this.looked_up,
      detail: this.detail(more),
    };
  }

  /** Returns the facts for the row of the task that the call creates. */
  taskFacts(): TaskFacts {
    const { protocol, program, authenticated_us } = this.facts();
    const { end_user, tags, stream, reached, moved_from } = this.detail(undefined) ?? {};
    return {
      vendor: this.vendor,
      ...{ protocol, program, authenticated_us },
      reserved_us: this.microseconds(performance.now()),
      ...(end_user ? { end_user } : undefined),
      ...(tags ? { tags } : undefined),
      ...(stream ? { stream } : undefined),
      ...(reached ? { reached } : undefined),
      ...(moved_from === undefined ? undefined : { moved_from }),
      attempts: [],
    };
  }

  /** Notes that the call created a task, which holds `amount` nano-USD. */
  becomeTask(id: string, amount: number): void {
    this.reserve(amount);
    this.task_id = id;
    this.hasTask = true;
  }

  /** Notes that an earlier call with the same idempotency key created the task. */
  repeatTask(id: string): void {
    this.task_id = id;
    this.outcome = 'repeated';
  }

  /** Notes that the call created a message batch, or that an earlier call with its key did. */
  becomeBatch(id: string, isRepeat: boolean): void {
    this.batch_id = id;
    this.outcome = isRepeat ? 'repeated' : 'accepted';
  }

  /** Returns the facts that few calls have; undefined if there are none. */
  private detail(more: CallDetail | undefined): CallDetail | undefined {
    const { attempts, end_user, tags, batch_id, stream, hit, reached, moved_from } = this;
    if (!attempts && !end_user && !tags && !stream && !batch_id && !more && !reached) return hit;
    return {
      ...(attempts ? { attempts } : undefined),
      ...(end_user ? { end_user } : undefined),
      ...(tags ? { tags } : undefined),
      ...(stream ? { stream } : undefined),
      ...(batch_id ? { batch_id } : undefined),
      ...(reached ? { reached } : undefined),
      ...(moved_from === undefined ? undefined : { moved_from }),
      ...hit,
      ...more,
    };
  }

  /** Notes the client's `metadata`. Anthropic's names the end user in `user_id`. */
  private tag(metadata: object): void {
    const tags: [name: string, value: string][] = [];
    for (const [name, value] of Object.entries(metadata).slice(0, MAX_TAGS)) {
      if (typeof value !== 'string') continue;
      const text = storable(value, MAX_TAG_CHARS);
      if (name === 'user_id') this.end_user ??= text;
      else tags.push([storable(name, MAX_TAG_CHARS), text]);
    }
    // Those that are known already are of the key.
    this.addTags({ ...Object.fromEntries(tags), ...this.tags });
  }

  private latestAttempt(): Attempt {
    const { channel_id, routed_ms = 0 } = this;
    const started_ms = this.offset(routed_ms);
    return { channel_id, started_ms, ended_ms: null, failure: null, fault: null };
  }

  private offset(ms: number): number {
    return Math.round(ms - this.request.arrived_ms);
  }

  private microseconds(ms: number | undefined): number | null {
    if (ms === undefined) return null;
    return Math.min(MAX_INT4, Math.round((ms - this.request.arrived_ms) * US_PER_MS));
  }
}
