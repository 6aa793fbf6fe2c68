import type { AnyMachineSnapshot } from 'xstate';
import { statePath, takeEvent } from '../../replay/step.ts';
import { machineOf } from './past.ts';

/**
 * What an operator can do to an actor. `retry` sends the event of the timer that the actor waits for now.
 * `cancel` requests the end of a task or a batch. `reset` lets an open circuit take calls again.
 */
export type Act = 'retry' | 'cancel' | 'reset';

/** The kinds of actors for which each act exists. */
export const ACT_KINDS: Readonly<Record<Act, readonly string[]>> = {
  retry: ['task', 'webhook'],
  cancel: ['task', 'batch'],
  reset: ['channel'],
};

/**
 * The timer that an actor waits for, by kind and state. The deadline of a task is no such timer: its
 * event would end the task early.
 */
const TIMERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  task: {
    'pending.reserved': 'retry',
    'processing.waiting': 'poll',
    'processing.unknown.resting': 'ask',
  },
  webhook: { waiting: 'retry' },
};

/** The event of an act, by kind. */
const EVENTS: Readonly<Record<string, string>> = {
  ...{ 'cancel/task': 'CANCEL_REQUESTED', 'cancel/batch': 'CANCEL', 'reset/channel': 'MENDED' },
};

/** Returns the name of the timer that a retry fires; undefined if the actor waits for no timer. */
export function retryTimer(kind: string, snapshot: AnyMachineSnapshot): string | undefined {
  return TIMERS[kind]?.[statePath(snapshot)];
}

/** True if the machine takes the event of the act in this state. */
export function mayAct(act: Act, kind: string, snapshot: AnyMachineSnapshot): boolean {
  if (act === 'retry') return retryTimer(kind, snapshot) !== undefined;
  const type = EVENTS[`${act}/${kind}`];
  if (type === undefined || isCanceled(kind, snapshot)) return false;
  return takeEvent(machineOf(kind).machine, snapshot, { type })[0] !== snapshot;
}

/** True if the end of a task or a batch was requested before. */
export function isCanceled(kind: string, { context, value }: AnyMachineSnapshot): boolean {
  if (kind === 'task') return (context as { cancel_requested?: boolean }).cancel_requested === true;
  return kind === 'batch' && typeof value === 'object' && 'canceling' in value;
}

/** Returns the acts that the actor allows now. */
export function actsOf(kind: string, snapshot: AnyMachineSnapshot): Act[] {
  return (Object.keys(ACT_KINDS) as Act[]).filter((act) => mayAct(act, kind, snapshot));
}
