import { projectTasks, type TaskProjection } from '../../../db/tasks/progress.ts';
import type { DurableKind, StateChange } from '../../actors/durable/kind.ts';
import type { TaskContext, TaskEvent } from '../../machines/task-events.ts';
import { versionedTask } from '../../replay/machines.ts';
import type { TaskEffectDeps } from './deps.ts';
import { endOfTask } from './facts.ts';
import { messageFor } from './failures.ts';
import { JobProgress } from './progress.ts';
import { publicStatus, publicStatusOf } from './public-state.ts';
import type { RunningSubmissions } from './running.ts';
import { TaskSettlement } from './settlement.ts';
import { Submission } from './submission.ts';

/** The `kind` of the durable actors that run generation tasks. */
export const TASK_KIND = 'task';
/** Time limit of one effect. It is longer than any upstream call or download of an effect. */
const EFFECT_TIMEOUT_MS = 15 * 60_000;
const MAX_ATTEMPTS = 6;

/**
 * Returns the kind of durable actor that runs generation tasks: its machine, its effects, and the
 * projection to the row that clients read.
 */
export function taskKind(deps: TaskEffectDeps, running: RunningSubmissions): DurableKind {
  const { submit, locate } = new Submission(deps, running);
  const { poll, collect, cancel } = new JobProgress(deps);
  const { settle, refund } = new TaskSettlement(deps);
  return {
    kind: TASK_KIND,
    ...versionedTask,
    effects: {
      submit,
      locate,
      poll,
      collect,
      cancel,
      settle,
      refund,
      announce: async (_, { actor_id }) => {
        await deps.announce(actor_id);
        return { type: 'ANNOUNCED' } satisfies TaskEvent;
      },
    },
    effect_timeout_ms: EFFECT_TIMEOUT_MS,
    max_attempts: MAX_ATTEMPTS,
    unlimited_effects: ['settle', 'refund', 'announce'],
    eventOfDeadEffect: (effect) => exhaustedEvent(effect, deps.random()),
    project: (tx, changes) => projectTasks(tx, changes.flatMap(projectionOf)),
  };
}

/** Returns the event for an effect whose attempts are used up. */
function exhaustedEvent(effect: string, random: number): TaskEvent {
  switch (effect) {
    case 'submit':
      return { type: 'LOST', random };
    case 'locate':
      return { type: 'UNANSWERED', hopeless: false, random };
    case 'poll':
      return { type: 'PROGRESSED', progress: null, retry_after_ms: 0, random };
    case 'collect':
      return { type: 'COLLECT_FAILED', random };
    default:
      return { type: 'CANCELLED' };
  }
}

function projectionOf({ id, from_state, to_state, snapshot }: StateChange): TaskProjection[] {
  if (publicStatus(from_state) === publicStatus(to_state)) return [];
  const { error_code, billing_id, cancel_requested } = snapshot.context as TaskContext;
  // One transaction may change the state several times. The snapshot has the last state, so the
  // status is taken from the snapshot.
  const status = publicStatusOf(snapshot.value);
  const failed = status === 'failed';
  return [
    {
      id,
      status,
      error_code: failed ? (error_code ?? 'upstream_error') : null,
      error_message: failed ? messageFor(error_code ?? 'upstream_error', cancel_requested) : null,
      billing_id: status === 'completed' ? billing_id : null,
      end: failed ? endOfTask(error_code ?? 'upstream_error') : null,
    },
  ];
}
