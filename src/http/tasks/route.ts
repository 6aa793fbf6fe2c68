import { GENERATION_SCENES, type GenerationScene } from '../../catalogue/inputs.ts';
import type { TaskView } from '../../inference/tasks/port.ts';
import { taskNotFound } from '../../inference/tasks/task-watches.ts';
import type { Handler } from '../endpoint.ts';
import { createLink, taskResponse } from './answer.ts';
import type { GenerationPorts, GenerationRouteDeps } from './ports.ts';

/** An id that does not match cannot exist, so it is not looked up. */
const TASK_ID = /^[A-Za-z0-9_-]{1,100}$/;

/**
 * Returns the status of a task (spec: Async task polling). All paths share this handler, so that
 * authorization, ownership and response are the same. A task is not found if its scene (what it
 * makes, e.g. `image`) is not in `scenes`. Another organization's task gives exactly the same
 * response as a task that does not exist (P6).
 */
export function getTask(
  deps: GenerationRouteDeps,
  scenes: readonly GenerationScene[] = GENERATION_SCENES,
): Handler {
  return async (context) => {
    const { request, params } = context;
    const key = await deps.authentication.requireKey(context);
    await deps.rateLimit.consume(key, context);
    const ports = deps.generation();
    const view = await findTask(ports, params['id'] ?? '', key.organization_id);
    if (!view || !scenes.includes(view.scene)) throw taskNotFound();
    return taskResponse(view, createLink(request, ports));
  };
}

/** Returns a task of the organization; undefined if it has no such task (P6). */
export async function findTask(
  { tasks }: GenerationPorts,
  id: string,
  organization_id: string,
): Promise<TaskView | undefined> {
  return TASK_ID.test(id) ? tasks.find(id, organization_id) : undefined;
}
