/** Context, events and limits of the task machine. */

/** The pause between polls grows from `FIRST_POLL_MS` to `LAST_POLL_MS`. */
const FIRST_POLL_MS = 1_000;
export const LAST_POLL_MS = 15_000;
/** The longest pause that an upstream can set with `retry_after_ms`. */
const MAX_RETRY_AFTER_MS = 60_000;
/** The most channels that one round of submissions tries. */
export const MAX_CHANNELS_PER_ROUND = 4;
/** The most rounds of an asynchronous task. A task whose client waits gets one round. */
export const MAX_ROUNDS = 4;
/**
 * The most polls for a new address of a result that cannot be fetched. The old address may have
 * expired.
 */
export const MAX_RECOLLECTIONS = 3;

/** The context holds neither the prompt nor a secret. These are in the task's row. */
export interface TaskContext {
  /**
   * False if a client waits for the answer. Then the task fails after one round without a channel.
   */
  patient: boolean;
  /** True if the task's end is announced by a webhook, or to a client that waits. */
  announce: boolean;
  /** The only channel that can continue an earlier generation; null = any. */
  pinned_channel: string | null;
  /** Channels that rejected the submission in this round. */
  tried: string[];
  rounds: number;
  /**
   * The number of polls of the job. Before there is a job, the number of times that no channel had
   * a free slot.
   */
  polls: number;
  /** The number of lookups of a lost submission's outcome. */
  asks: number;
  recollections: number;
  /** True if the upstream has a job that can be polled. */
  has_job: boolean;
  /** Why the task ends after the running effect. The deadline passed, or the client left. */
  ending: string | null;
  error_code: string | null;
  billing_id: string | null;
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
      /** The channel that rejected the submission. Null = no channel could be tried. */
      channel_id: string | null;
      retryable: boolean;
      /** True if another channel may accept the task now. */
      more: boolean;
      /** True if other calls use all slots of the channels. */
      busy: boolean;
      error_code: string;
      retry_after_ms: number;
      random: number;
    }
  | { type: 'PROGRESSED'; retry_after_ms: number; random: number }
  | { type: 'PRODUCED'; outputs: number }
  | { type: 'COLLECTED'; outputs: number }
  | { type: 'COLLECT_FAILED'; random: number }
  | { type: 'SETTLED'; billing_id: string }
  | { type: 'UPSTREAM_FAILED'; error_code: string }
  | { type: 'LOST'; random: number }
  /**
   * The outcome of a lost submission was not found. `hopeless` is true if a later lookup cannot
   * find it.
   */
  | { type: 'UNANSWERED'; hopeless: boolean; random: number }
  | { type: 'RELEASED' }
  /** Reports that change no state. They are only stored in the event log. */
  | { type: 'CANCELLED' }
  | { type: 'ANNOUNCED' }
  | { type: 'DEADLINE' }
  | { type: 'CANCEL' }
  | { type: 'RETRY' }
  | { type: 'POLL' }
  | { type: 'ASK' };

/**
 * Returns a delay, ms. The delay grows exponentially from 1 s to 15 s and is spread by ±25 %. It is
 * never shorter than `retry_after_ms`, which counts up to one minute.
 */
export function backOffMs(times: number, random: number, retry_after_ms = 0): number {
  const base = Math.min(FIRST_POLL_MS * 2 ** Math.min(times, 10), LAST_POLL_MS);
  const spread = Math.round(base * (0.75 + random / 2));
  return Math.max(Math.min(spread, LAST_POLL_MS), Math.min(retry_after_ms, MAX_RETRY_AFTER_MS));
}

/** Returns the delay after `event`, ms, from its `random` and `retry_after_ms`. */
export function spreadMs(times: number, event: TaskEvent): number {
  const random = 'random' in event ? event.random : 0.5;
  return backOffMs(times, random, 'retry_after_ms' in event ? event.retry_after_ms : 0);
}

/** Returns the parameters of the action `setTimer`. */
export const fromTimer = (name: string, delay_ms: number, type: TaskEvent['type']) => ({
  name,
  delay_ms,
  event: { type },
});
