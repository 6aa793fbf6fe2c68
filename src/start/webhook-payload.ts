import { taskRecord } from '../http/tasks/answer.ts';
import type { GenerationPorts } from '../http/tasks/ports.ts';
import type { TaskPort } from '../inference/tasks/port.ts';

/**
 * What a webhook says: the task as polling shows it. Addresses of files are absolute where
 * WEIR_PUBLIC_URL says how clients reach us, else relative to the base URL that the client knows.
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
