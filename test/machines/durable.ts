import { DURABLE_MACHINES } from '../support/histories.ts';
import { BATCH_EVENTS, TASK_EVENTS, WEBHOOK_EVENTS } from './events.ts';
import type { DurableMachine } from './versions.ts';

const EVENTS: Readonly<Record<string, DurableMachine['events']>> = {
  task: TASK_EVENTS,
  batch: BATCH_EVENTS,
  webhook: WEBHOOK_EVENTS,
};

/** All durable machines of Weir, with the events of their tests. */
export const DURABLE: readonly DurableMachine[] = Object.entries(DURABLE_MACHINES).map(
  ([kind, versioned]) => ({ kind, versioned, events: EVENTS[kind] ?? [] }),
);
