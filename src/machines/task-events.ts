/** The pause between polls grows from `FIRST_POLL_MS` to `LAST_POLL_MS`. */
const FIRST_POLL_MS = 1_000;
export const LAST_POLL_MS = 15_000;
/** The longest pause that an upstream can request. A longer pause is shortened to this. */
const MAX_RETRY_AFTER_MS = 60_000;
/** The most channels that one round of submissions tries. */
export const MAX_CHANNELS_PER_ROUND = 4;
/** The most rounds of an asynchronous task. A task whose client waits gets one round. */
export const MAX_ROUNDS = 4;
/**
 * The most times that a job is polled again because its result could not be fetched. The address of
 * the result may have expired, and a poll may return a new one.
 */
export const MAX_RECOLLECTIONS = 3;

/** What the task machine remembers. The prompt and secrets are not here, but in the task's row. */
export interface TaskContext {
  /**
   * False if a client waits for the answer. Then the task fails if no channel accepts it in the
   * first round.
   */
  patient: boolean;
  /** True if a webhook is sent when the task ends. */
  announce: boolean;
  /** The only channel that may get the task, because it made an earlier result; null = any. */
  pinned_channel: string | null;
  /** Channels that rejected the submission in this round. */
  tried: string[];
  rounds: number;
  /** How often the job was polled. Before there is a job: how often no channel had a free slot. */
  polls: number;
  /** How often Weir looked up the outcome of a lost submission without finding it. */
  asks: number;
  /** How often the job was polled again because its result could not be fetched. */
  recollections: number;
  /** True if the upstream has a job that can be polled. */
  has_job: boolean;
  /**
   * The error code with which the task ends after the running effect, because the deadline passed
   * or the task was canceled. Null = the task goes on.
   */
  ending: string | null;
  /** True if the organization requested to cancel the task. */
  cancel_requested: boolean;
  error_code: string | null;
  billing_id: string | null;
  /**
   * The largest progress that the upstream reported, 0 to 100 percent. The progress never falls
   * (P11). Null = the upstream reported no progress.
   */
  progress: number | null;
}

/** An event of the task machine. `random` is 0 ≤ x < 1 and spreads the delay of the next timer. */
export type TaskEvent =
  | {
      type: 'ACCEPTED';
      deadline_ms: number;
      patient: boolean;
      announce: boolean;
      pinned_channel: string | null;
    }
  | { type: 'SUBMITTED'; channel_id: string; random: number }
  | {
      type: 'SUBMIT_REJECTED';
      /** The channel that rejected the submission; null = no channel could be tried. */
      channel_id: string | null;
      retryable: boolean;
      /** True if another channel may accept the task now. */
      more: boolean;
      /** True if a channel would serve the task, but other calls use all its slots. */
      busy: boolean;
      error_code: string;
      retry_after_ms: number;
      random: number;
    }
  | {
      type: 'PROGRESSED';
      /** Whole percent, 0 to 100; null = the upstream reported no progress. */
      progress: number | null;
      retry_after_ms: number;
      random: number;
    }
  | { type: 'PRODUCED'; outputs: number }
  | { type: 'COLLECTED'; outputs: number }
  | { type: 'COLLECT_FAILED'; random: number }
  | { type: 'SETTLED'; billing_id: string }
  | { type: 'UPSTREAM_FAILED'; error_code: string }
  /** The answer to the submission was lost, so the upstream may have a job. */
  | { type: 'LOST'; random: number }
  /**
   * Weir looked up the outcome of a lost submission and did not find it. `hopeless` is true if a
   * later lookup cannot find it either.
   */
  | { type: 'UNANSWERED'; hopeless: boolean; random: number }
  | { type: 'RELEASED' }
  /**
   * The effect `cancel` or `announce` has ended. These events change no state. They are only stored
   * in the event log.
   */
  | { type: 'CANCELLED' }
  | { type: 'ANNOUNCED' }
  | { type: 'DEADLINE' }
  /** The client of an inline call left. */
  | { type: 'CANCEL' }
  /** The organization requested to cancel the task. */
  | { type: 'CANCEL_REQUESTED' }
  | { type: 'RETRY' }
  | { type: 'POLL' }
  | { type: 'ASK' };

/**
 * Returns the delay after `times` earlier attempts, ms. It grows exponentially from 1 s to 15 s and
 * is spread by ±25 %. It is never shorter than `retry_after_ms`, but at most one minute of
 * `retry_after_ms` counts.
 */
export function backOffMs(times: number, random: number, retry_after_ms = 0): number {
  const base = Math.min(FIRST_POLL_MS * 2 ** Math.min(times, 10), LAST_POLL_MS);
  const spread = Math.round(base * (0.75 + random / 2));
  return Math.max(Math.min(spread, LAST_POLL_MS), Math.min(retry_after_ms, MAX_RETRY_AFTER_MS));
}

/** Returns `backOffMs` with the `random` and the `retry_after_ms` of `event`, if it has them. */
export function delayAfterMs(times: number, event: TaskEvent): number {
  const random = 'random' in event ? event.random : 0.5;
  return backOffMs(times, random, 'retry_after_ms' in event ? event.retry_after_ms : 0);
}

/** Returns the parameters of the action `setTimer`. `type` is the event that the timer sends. */
export const timerParams = (name: string, delay_ms: number, type: TaskEvent['type']) => ({
  name,
  delay_ms,
  event: { type },
});

/**
 * Returns the error code of a task that failed with `error_code`. A job that was canceled by request
 * fails at its upstream without another reason.
 */
export function failureCode(
  { cancel_requested }: Pick<TaskContext, 'cancel_requested'>,
  error_code: string,
): string {
  return cancel_requested && error_code === 'upstream_error' ? 'request_cancelled' : error_code;
}

/** Returns the larger of two percentages; null = not known. */
export function laterProgress(known: number | null, reported: number | null): number | null {
  return known === null || (reported !== null && reported > known) ? reported : known;
}
