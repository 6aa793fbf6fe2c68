import { newId } from '../shared/random.ts';
import type { MediaKind } from './media.ts';
import type { Script } from './script.ts';

/** What a provider was asked to make. */
export interface JobOrder {
  readonly account: string;
  readonly protocol: string;
  readonly model: string;
  readonly prompt: string;
  readonly kind: MediaKind;
  readonly outputs: number;
  readonly width?: number;
  readonly height?: number;
  /** Seconds of output. */
  readonly duration?: number;
  /** The provider recognises a repetition by it. */
  readonly key?: string;
  /** Anything else that the provider's answers quote. */
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface Job extends JobOrder {
  readonly id: string;
  readonly script: Script;
  /** Milliseconds since the Unix epoch. */
  readonly began_at: number;
  polls: number;
  cancelled: boolean;
}

export type JobState = 'queued' | 'processing' | 'done' | 'failed' | 'cancelled';

const KEPT_JOBS = 100_000;
/** This part of its time a job waits for its turn. */
const QUEUED_PART = 1 / 3;

/** The jobs that the made-up providers were given. */
export class Jobs {
  readonly #jobs = new Map<string, Job>();
  readonly #byKey = new Map<string, Job>();

  /** Takes a job; a repeated key is the same job again. */
  submit(order: JobOrder, script: Script, id: string = newId('')): { job: Job; isNew: boolean } {
    const key =
      order.key === undefined ? undefined : `${order.account}/${order.protocol}/${order.key}`;
    const known = key === undefined ? undefined : this.#byKey.get(key);
    if (known) return { job: known, isNew: false };
    const job: Job = { ...order, id, script, began_at: Date.now(), polls: 0, cancelled: false };
    this.#jobs.set(job.id, job);
    if (key !== undefined) this.#byKey.set(key, job);
    if (this.#jobs.size > KEPT_JOBS) this.#jobs.delete(this.#jobs.keys().next().value ?? '');
    return { job, isNew: true };
  }

  /** Another account's job is no job. */
  find(account: string, id: string): Job | undefined {
    const job = this.#jobs.get(id);
    return job?.account === account && !job.script.gone ? job : undefined;
  }

  findByKey(account: string, protocol: string, key: string): Job | undefined {
    return this.#byKey.get(`${account}/${protocol}/${key}`);
  }

  /** All that an account gave to a provider. */
  of(account: string, protocol: string): Job[] {
    return [...this.#jobs.values()].filter(
      (job) => job.account === account && job.protocol === protocol,
    );
  }

  /** All that an account gave to anybody, oldest first. */
  ofAccount(account: string): Job[] {
    return [...this.#jobs.values()].filter((job) => job.account === account);
  }

  clear(): void {
    this.#jobs.clear();
    this.#byKey.clear();
  }
}

/** Where a job is now. */
export function stateOf({ began_at, cancelled, script }: Job, now = Date.now()): JobState {
  if (cancelled) return 'cancelled';
  const elapsed = now - began_at;
  if (elapsed < script.task_ms * QUEUED_PART) return 'queued';
  if (elapsed < script.task_ms) return 'processing';
  return script.fail === undefined ? 'done' : 'failed';
}

/** Part of the way, 0–1. */
export function progressOf({ began_at, script }: Job, now = Date.now()): number {
  return Math.min(1, (now - began_at) / Math.max(1, script.task_ms));
}
