import type { TaskStatus } from '../../../db/tasks/rows.ts';
import { laterProgress } from '../../machines/task-events.ts';

/** What clients see of a task after one event of its log. */
export interface PublicState {
  /** The number of the event in the task's log; 0 = before the first event. */
  readonly seq: number;
  readonly status: TaskStatus;
  /** Whole percent, 0 to 100; null = the upstream reported no progress. It never falls (P11). */
  readonly progress: number | null;
}

/** One event of a task's log. */
export interface TaskLogEvent {
  readonly seq: number;
  /** Events of earlier versions have no `progress`. */
  readonly event: { readonly type: string; readonly progress?: number | null };
  /** The state after the event, e.g. `processing.waiting`. */
  readonly to_state: string;
  /** False if no transition took the event. */
  readonly taken: boolean;
}

/** The public state of a task before its first event. */
export const FIRST_PUBLIC_STATE: PublicState = { seq: 0, status: 'pending', progress: null };

/** Returns the public state after the next event of the log. */
export function nextPublicState(
  { progress }: PublicState,
  { seq, event, to_state, taken }: TaskLogEvent,
): PublicState {
  const reported = taken && event.type === 'PROGRESSED' ? (event.progress ?? null) : null;
  return { seq, status: publicStatus(to_state), progress: laterProgress(progress, reported) };
}

/**
 * True if clients see a difference between the two states. After the end of a task there is none,
 * because an ended task never changes (P11).
 */
export function isPublicChange(before: PublicState, after: PublicState): boolean {
  if (isTerminal(before)) return false;
  return before.status !== after.status || before.progress !== after.progress;
}

/** True if the task will not change any more. */
export function isTerminal({ status }: Pick<PublicState, 'status'>): boolean {
  return status === 'completed' || status === 'failed';
}

/**
 * Returns the status that clients see for a state. Internal states, e.g. a refund under way, are
 * `processing`.
 */
export function publicStatus(state: string): TaskStatus {
  const [top] = state.split('.');
  switch (top) {
    case 'pending':
    case 'completed':
    case 'failed':
      return top;
    default:
      return 'processing';
  }
}

/** Returns the status that clients see for the `value` of a snapshot. */
export function publicStatusOf(value: unknown): TaskStatus {
  return publicStatus(typeof value === 'string' ? value : (Object.keys(value as object)[0] ?? ''));
}
