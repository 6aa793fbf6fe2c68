import { taskRecord } from '../http/tasks/answer.ts';
import type { GenerationPorts } from '../http/tasks/ports.ts';
import type { TaskPort } from '../inference/tasks/port.ts';

/**
 * Returns the body of a task's webhook; undefined if the task does not exist. The body has the
 * event's type, the time, and the task as polling shows it. If WEIR_PUBLIC_URL is set, addresses of
 * files are absolute. Otherwise they are relative to the base URL that the client knows.
 */
export async function webhookPayload(
  tasks: TaskPort,
  { filePath, public_url }: Omit<GenerationPorts, 'tasks'>,
  task_id: string,
  organization_id: string,
): Promise<string | undefined> {
  const view = await tasks.find(task_id, organization_id);
  if (!view) return undefined;
  const origin = public_url?.replace(/\/+$/, '') ?? '';
  const data = taskRecord(view, (name) => origin + filePath(name));
  const timestamp = new Date().toISOString();
  return JSON.stringify({ type: `task.${view.status}`, timestamp, data });
}
