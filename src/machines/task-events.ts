/** Context, events and limits of the task machine. */

/** The pause between polls grows from the first to the second of these, milliseconds. */
const FIRST_POLL_MS = 1_000;
export const LAST_POLL_MS = 15_000;
/** The longest pause that an upstream can set with `retry_after_ms`. */
const MAX_RETRY_AFTER_MS = 60_000;
/** Most channels that one round of submissions tries. */
export const MAX_CHANNELS_PER_ROUND = 4;
/** Rounds for an asynchronous task. A task whose client waits gets one round. */
export const MAX_ROUNDS = 4;
/** Polls for a new address of a result that cannot be fetched: the address may have expired. */
export const MAX_RECOLLECTIONS = 3;

/** Holds neither the prompt nor a secret: those are in the task's row. */
export interface TaskContext {
  /** False if a client waits for the answer: then the task fails after one round without a channel. */
  patient: boolean;
  /** The task's end is announced: by a webhook, or to a client that waits. */
  announce: boolean;
  /** The only channel that can continue an earlier generation; null = any. */
  pinned_channel: string | null;
  /** Channels that rejected the submission in this round. */
  tried: string[];
  rounds: number;
  /** Polls of the job. Before there is a job: how often no channel had a free slot. */
  polls: number;
  /** Lookups of a lost submission's outcome. */
  asks: number;
  recollections: number;
  /** True if the upstream has a job that can be polled. */
  has_job: boolean;
  /** Why the task ends after the running effect: the deadline passed, or the client left. */
  ending: string | null;
  error_code: string | null;
  billing_id: string | null;
}

/** `random` is 0 ≤ x < 1 and spreads the delay of the next timer. */
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
      /** Null = no channel could be tried. */
      channel_id: string | null;
      retryable: boolean;
      /** Another channel may accept the task now. */
      more: boolean;
      /** All channels' slots are in use by other calls. */
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
  /** The outcome of a lost submission was not found; `hopeless` = it never will be. */
  | { type: 'UNANSWERED'; hopeless: boolean; random: number }
  | { type: 'RELEASED' }
  /** Reports that change no state; they are in the event log. */
  | { type: 'CANCELLED' }
  | { type: 'ANNOUNCED' }
  | { type: 'DEADLINE' }
  | { type: 'CANCEL' }
  | { type: 'RETRY' }
  | { type: 'POLL' }
  | { type: 'ASK' };

/**
 * Returns a delay, ms: exponential from 1 s to 15 s, spread by ±25 %. It is never shorter than
 * `retry_after_ms`, which counts up to one minute.
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
