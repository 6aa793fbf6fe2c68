import { newId } from '../shared/random.ts';
import type { MediaKind } from './media.ts';
import type { Script } from './script.ts';

/** What a submission requests. */
export interface JobOrder {
  readonly account: string;
  readonly protocol: string;
  readonly model: string;
  readonly prompt: string;
  readonly kind: MediaKind;
  readonly outputs: number;
  readonly width?: number;
  readonly height?: number;
  /** Length of the result, in seconds. */
  readonly duration?: number;
  /** Idempotency key. */
  readonly key?: string;
  /** Further values that the provider's responses quote. */
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface Job extends JobOrder {
  readonly id: string;
  readonly script: Script;
  /** Time of the submission, in milliseconds since the Unix epoch. */
  readonly began_at: number;
  polls: number;
  cancelled: boolean;
  /** The tokens that the answer reports; undefined if the provider does not count a job in tokens. */
  tokens?: { text_input: number; image_input: number; output: number };
}

export type JobState = 'queued' | 'processing' | 'done' | 'failed' | 'cancelled';

const KEPT_JOBS = 100_000;
/** A job is `queued` for this share of its running time (`task_ms`), then `processing`. */
const QUEUED_PART = 1 / 3;

/** All jobs of the simulated providers. */
export class Jobs {
  readonly #jobs = new Map<string, Job>();
  readonly #byKey = new Map<string, Job>();

  /** Adds a job; for a repeated key it returns the existing job. */
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

  /** Finds a job; undefined for another account's job, and for a job with the directive `gone`. */
  find(account: string, id: string): Job | undefined {
    const job = this.#jobs.get(id);
    return job?.account === account && !job.script.gone ? job : undefined;
  }

  findByKey(account: string, protocol: string, key: string): Job | undefined {
    return this.#byKey.get(`${account}/${protocol}/${key}`);
  }

  /** All jobs of an account at one provider. */
  of(account: string, protocol: string): Job[] {
    return [...this.#jobs.values()].filter(
      (job) => job.account === account && job.protocol === protocol,
    );
  }

  /** All jobs of an account at all providers, or of all accounts, oldest first. */
  list(account?: string): Job[] {
    const jobs = [...this.#jobs.values()];
    return account === undefined ? jobs : jobs.filter((job) => job.account === account);
  }

  clear(): void {
    this.#jobs.clear();
    this.#byKey.clear();
  }
}

/** The state of a job at a time. */
export function stateOf({ began_at, cancelled, script }: Job, now = Date.now()): JobState {
  if (cancelled) return 'cancelled';
  const elapsed = now - began_at;
  if (elapsed < script.task_ms * QUEUED_PART) return 'queued';
  if (elapsed < script.task_ms) return 'processing';
  return script.fail === undefined ? 'done' : 'failed';
}

/** Progress, 0 to 1. */
export function progressOf({ began_at, script }: Job, now = Date.now()): number {
  return Math.min(1, (now - began_at) / Math.max(1, script.task_ms));
}
