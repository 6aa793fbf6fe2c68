import { batchMachine } from '../machines/batch.ts';
import { channelMachine } from '../machines/channel.ts';
import { secondTaskMachine } from '../machines/earlier/second-task.ts';
import { firstTaskMachine } from '../machines/earlier/task.ts';
import { quotaMachine } from '../machines/quota.ts';
import { taskMachine } from '../machines/task.ts';
import { webhookMachine } from '../machines/webhook.ts';
import type { Json, VersionedMachine } from './versioned.ts';

/** The machine of tasks, its version, and its earlier versions (CONTRIBUTING: Change a machine). */
export const versionedTask: VersionedMachine = {
  machine: taskMachine,
  version: 3,
  migrate: withLaterMembers,
  earlier: [
    { machine: firstTaskMachine, version: 1 },
    { machine: secondTaskMachine, version: 2 },
  ],
};

/** The machine of message batches and its version. */
export const versionedBatch: VersionedMachine = { machine: batchMachine, version: 1 };

/** The machine of webhooks and its version. */
export const versionedWebhook: VersionedMachine = { machine: webhookMachine, version: 1 };

/** The machine of each kind of actor. No row has snapshots of quotas and channels. */
export const MACHINES: Readonly<Record<string, VersionedMachine>> = {
  task: versionedTask,
  batch: versionedBatch,
  webhook: versionedWebhook,
  quota: { machine: quotaMachine, version: 1 },
  channel: { machine: channelMachine, version: 1 },
};

/** Converts a snapshot of version 1 (no progress) or version 2 (no request to cancel). */
function withLaterMembers(snapshot: Json): Json {
  const { value, context } = snapshot as { value: Json; context: object };
  return { value, context: { progress: null, cancel_requested: false, ...context } };
}
