/** What each kind of actor is for people. */
export const NAMES: Readonly<Record<string, string>> = {
  task: 'Task',
  batch: 'Batch',
  webhook: 'Webhook',
  quota: 'Quota of a key',
  channel: 'Channel',
};

/** What an actor belongs to, for the title of its page. */
export const OF: Readonly<Record<string, string>> = {
  task: 'a task',
  batch: 'a batch',
  webhook: 'a webhook',
  quota: 'a key’s quota',
  channel: 'a channel',
};

/** Returns the page of what an actor stands for; undefined if the dashboard has none. */
export function pageOf(kind: string, id: string): { to: string; title: string } | undefined {
  const encoded = encodeURIComponent(id);
  if (kind === 'task') return { to: `/tasks/${encoded}`, title: 'Its task' };
  if (kind === 'webhook') return { to: `/tasks/${encoded}`, title: 'Its task' };
  if (kind === 'batch') return { to: `/batches/${encoded}`, title: 'Its batch' };
  if (kind === 'quota') return { to: `/keys/${encoded}`, title: 'Its API key' };
  return undefined;
}
