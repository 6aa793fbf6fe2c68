/** What the task machine knows and hears (design 3). */

/** Polls back off from the first of these to the second, milliseconds. */
const FIRST_POLL_MS = 1_000;
export const LAST_POLL_MS = 15_000;
/** An upstream may ask for more patience than that, up to here. */
const MAX_ASKED_POLL_MS = 60_000;
/** Channels that one round of submissions tries at most. */
export const MAX_CHANNELS_PER_ROUND = 4;
/** Rounds for a client that does not wait for the answer; one that waits gets one. */
export const MAX_ROUNDS = 4;
/** A result that cannot be fetched is asked for anew this often: its address may have expired. */
export const MAX_RECOLLECTIONS = 3;

/** What the machine knows. Neither prompt nor secret: the task's row has those. */
export interface TaskContext {
  /** False where a client waits for the answer: then it is told soon that nobody serves. */
  patient: boolean;
  /** Somebody wants to hear of the end. */
  announce: boolean;
  /** The only channel that can continue an earlier generation; null = any. */
  pinned_channel: string | null;
  /** Channels that rejected the submission in this round. */
  tried: string[];
  rounds: number;
  /** Polls of the job; before there is one, how often there was no room on any channel. */
  polls: number;
  /** How often the outcome of a lost submission was asked for. */
  asks: number;
  recollections: number;
  /** The upstream has a job that can be polled. */
  has_job: boolean;
  /** Why the task ends as soon as what is under way has ended: the deadline, or the client left. */
  ending: string | null;
  error_code: string | null;
  billing_id: string | null;
}

/** `random` is 0 ≤ x < 1 and spreads what follows. */
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
      /** null = no channel could even be asked. */
      channel_id: string | null;
      retryable: boolean;
      /** Another channel might take it now. */
      more: boolean;
      /** Only other calls are in the way. */
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
  /** Nobody could say what became of a lost submission; `hopeless` = nobody ever will. */
  | { type: 'UNANSWERED'; hopeless: boolean; random: number }
  | { type: 'RELEASED' }
  /** Reports that change nothing: kept in the log. */
  | { type: 'CANCELLED' }
  | { type: 'ANNOUNCED' }
  | { type: 'DEADLINE' }
  | { type: 'CANCEL' }
  | { type: 'RETRY' }
  | { type: 'POLL' }
  | { type: 'ASK' };

/** Exponential from 1 s to 15 s, a quarter more or less by chance, never sooner than was asked for. */
export function backOffMs(times: number, random: number, asked_ms = 0): number {
  const base = Math.min(FIRST_POLL_MS * 2 ** Math.min(times, 10), LAST_POLL_MS);
  const spread = Math.round(base * (0.75 + random / 2));
  return Math.max(Math.min(spread, LAST_POLL_MS), Math.min(asked_ms, MAX_ASKED_POLL_MS));
}

/** The back-off that an event asks for, with the chance that it brought. */
export function spreadMs(times: number, event: TaskEvent): number {
  const random = 'random' in event ? event.random : 0.5;
  return backOffMs(times, random, 'retry_after_ms' in event ? event.retry_after_ms : 0);
}

/** Parameters of `setTimer`. */
export const fromTimer = (name: string, delay_ms: number, type: TaskEvent['type']) => ({
  name,
  delay_ms,
  event: { type },
});
