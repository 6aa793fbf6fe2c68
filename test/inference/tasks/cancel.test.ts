/** Requests to cancel a task: what is refunded, and what the upstream decides (P1, P10). */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { findListedTask } from '../../../db/tasks/list.ts';
import { beginSubmission, recordCancelRequest } from '../../../db/tasks/progress.ts';
import type { Progress } from '../../../src/upstreams/generation/contract.ts';
import { lose, PRODUCED, reject, ScriptedProvider } from '../../support/scripted-provider.ts';
import { startTaskWorld, type TaskWorld } from '../../support/task-replica.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(60_000);

const RUNNING: Progress = { type: 'running', status: 'processing', progress: 40 };
const STOPPED: Progress = {
  type: 'failed',
  reason: 'upstream',
  public_message: 'The provider could not complete it.',
  message: 'status canceled',
};

describe('a request to cancel a task', () => {
  let world: TaskWorld;
  beforeAll(async () => {
    world = await startTaskWorld();
  });
  afterAll(async () => {
    expect(await world.imbalances()).toEqual([]);
    await world.stop();
  });

  const rowOf = async (organization_id: string, id: string) => {
    const row = await findListedTask(world.database.sql, organization_id, id);
    if (!row) throw new Error(`no task ${id}`);
    return row;
  };
  const stateIs = (organization_id: string, id: string, state: string) =>
    until(`the task is ${state}`, async () =>
      (await rowOf(organization_id, id)).state?.startsWith(state),
    );

  test('P10: refunds at once a task that no upstream has, and sends nothing any more', async () => {
    const provider = new ScriptedProvider();
    provider.script.beforeAccept = reject;
    const replica = await world.replica({ protocols: [provider.protocol('job')] });
    const key = await world.newKey(100);
    const { id } = await replica.create(key);
    await stateIs(key.organization_id, id, 'pending.reserved');
    provider.script.beforeAccept = () => undefined;
    await replica.tasks.cancel(id, key.organization_id);
    expect(await rowOf(key.organization_id, id)).toMatchObject({
      status: 'failed',
      error_code: 'request_cancelled',
      error_message: 'The task was canceled before it had a result.',
      held_nano_usd: 0,
      charged_nano_usd: 0,
    });
    expect(provider.accepted).toEqual([]);
    await replica.close();
  });

  test('P10: that is committed before a submission begins prevents the submission', async () => {
    const provider = new ScriptedProvider();
    provider.script.beforeAccept = reject;
    const replica = await world.replica({ protocols: [provider.protocol('job')] });
    const key = await world.newKey(100);
    const { id } = await replica.create(key);
    await stateIs(key.organization_id, id, 'pending.reserved');
    const { sql } = world.database;
    await sql.begin((tx) => recordCancelRequest(tx, id, 'org_another'));
    expect(await beginSubmission(sql, id, 'channel-0')).toBe(true);
    await sql`update task set submitted_at = null where id = ${id}`;
    await sql.begin((tx) => recordCancelRequest(tx, id, key.organization_id));
    expect(await beginSubmission(sql, id, 'channel-0')).toBe(false);
    provider.script.beforeAccept = () => undefined;
    expect(await replica.ended(id, key.organization_id)).toMatchObject({
      error: { code: 'request_cancelled' },
    });
    expect(provider.accepted).toEqual([]);
    await replica.close();
  });

  test('P10: asks the upstream to cancel a running job, and refunds when the job has ended', async () => {
    const provider = new ScriptedProvider();
    provider.script.progress = ({ cancelled }) => (cancelled ? STOPPED : RUNNING);
    const replica = await world.replica({ protocols: [provider.protocol('job')] });
    const key = await world.newKey(100);
    const { id } = await replica.create(key);
    await until('the job runs', async () => (await rowOf(key.organization_id, id)).progress === 40);
    await replica.tasks.cancel(id, key.organization_id);
    const asked = await rowOf(key.organization_id, id);
    expect(asked).toMatchObject({ status: 'processing', charged_nano_usd: null });
    expect(asked.held_nano_usd).toBeGreaterThan(0);
    expect(await replica.ended(id, key.organization_id)).toMatchObject({
      status: 'failed',
      error: {
        code: 'request_cancelled',
        message: 'The task was canceled before it had a result.',
      },
    });
    expect(provider.accepted.map(({ cancelled }) => cancelled)).toEqual([true]);
    expect(await rowOf(key.organization_id, id)).toMatchObject({
      held_nano_usd: 0,
      charged_nano_usd: 0,
    });
    await replica.close();
  });

  test('P10: does not refund a job that the upstream finishes all the same: it is charged', async () => {
    const provider = new ScriptedProvider();
    provider.script.progress = ({ cancelled }) => (cancelled ? PRODUCED : RUNNING);
    const { cancel: _, ...protocol } = provider.protocol('job');
    const replica = await world.replica({ protocols: [protocol] });
    const key = await world.newKey(100);
    const { id } = await replica.create(key);
    await stateIs(key.organization_id, id, 'processing.waiting');
    await replica.tasks.cancel(id, key.organization_id);
    const [job] = provider.accepted;
    if (job) job.cancelled = true;
    expect(await replica.ended(id, key.organization_id)).toMatchObject({ status: 'completed' });
    const row = await rowOf(key.organization_id, id);
    expect(row.cancel_requested_at).toBeInstanceOf(Date);
    expect(row).toMatchObject({ held_nano_usd: 0, error_code: null });
    expect(row.charged_nano_usd).toBeGreaterThan(0);
    await replica.close();
  });

  test('leaves a job alone that has ended, because some providers then delete its result', async () => {
    const provider = new ScriptedProvider();
    let is_done = false;
    provider.script.progress = () => (is_done ? PRODUCED : RUNNING);
    const replica = await world.replica({ protocols: [provider.protocol('job')] });
    const key = await world.newKey(100);
    const { id } = await replica.create(key);
    await until('the job runs', async () => (await rowOf(key.organization_id, id)).progress === 40);
    is_done = true;
    await replica.tasks.cancel(id, key.organization_id);
    expect(await replica.ended(id, key.organization_id)).toMatchObject({ status: 'completed' });
    expect(provider.accepted.map(({ cancelled }) => cancelled)).toEqual([false]);
    await replica.close();
  });

  test('is sent to the upstream again if the upstream could not be reached', async () => {
    const provider = new ScriptedProvider();
    provider.script.progress = ({ cancelled }) => (cancelled ? STOPPED : RUNNING);
    let attempts = 0;
    const protocol = provider.protocol('job');
    const replica = await world.replica({
      protocols: [
        {
          ...protocol,
          async cancel(call, job) {
            attempts += 1;
            if (attempts === 1) reject();
            await protocol.cancel?.(call, job);
          },
        },
      ],
    });
    const key = await world.newKey(100);
    const { id } = await replica.create(key);
    await stateIs(key.organization_id, id, 'processing.waiting');
    await replica.tasks.cancel(id, key.organization_id);
    expect(await replica.ended(id, key.organization_id)).toMatchObject({
      error: { code: 'request_cancelled' },
    });
    expect(attempts).toBe(2);
    await replica.close();
  });

  test('P10: keeps the money held while nobody knows whether the upstream has the job', async () => {
    const provider = new ScriptedProvider();
    provider.script.afterAccept = lose;
    provider.script.progress = ({ cancelled }) => (cancelled ? STOPPED : RUNNING);
    let finds = false;
    const { find, ...protocol } = provider.protocol('job', { finds: true });
    const replica = await world.replica({
      protocols: [{ ...protocol, find: async (call) => (finds ? find?.(call) : undefined) }],
    });
    const key = await world.newKey(100);
    const { id } = await replica.create(key);
    await stateIs(key.organization_id, id, 'processing.unknown');
    await replica.tasks.cancel(id, key.organization_id);
    const unknown = await rowOf(key.organization_id, id);
    expect(unknown.status).toBe('processing');
    expect(unknown.held_nano_usd).toBeGreaterThan(0);
    finds = true;
    expect(await replica.ended(id, key.organization_id)).toMatchObject({
      error: { code: 'request_cancelled' },
    });
    expect(provider.accepted.map(({ cancelled }) => cancelled)).toEqual([true]);
    await replica.close();
  });

  test('reaches the task of another replica, and a second request is harmless', async () => {
    const provider = new ScriptedProvider();
    provider.script.progress = ({ cancelled }) => (cancelled ? STOPPED : RUNNING);
    const owner = await world.replica({ protocols: [provider.protocol('job')] });
    const other = await world.replica({ protocols: [provider.protocol('job')] });
    const key = await world.newKey(100);
    const { id } = await owner.create(key);
    await stateIs(key.organization_id, id, 'processing.waiting');
    await Promise.all([
      other.tasks.cancel(id, key.organization_id),
      owner.tasks.cancel(id, key.organization_id),
    ]);
    await owner.ended(id, key.organization_id);
    await other.tasks.cancel(id, key.organization_id);
    expect(await rowOf(key.organization_id, id)).toMatchObject({
      status: 'failed',
      error_code: 'request_cancelled',
    });
    expect(provider.accepted).toHaveLength(1);
    await owner.close();
    await other.close();
  });

  test('P6: of another organization finds no task, and changes nothing', async () => {
    const provider = new ScriptedProvider();
    provider.script.progress = () => RUNNING;
    const replica = await world.replica({ protocols: [provider.protocol('job')] });
    const key = await world.newKey(100);
    const stranger = await world.newKey(100);
    const { id } = await replica.create(key);
    const refusal = replica.tasks.cancel(id, stranger.organization_id);
    const missing = replica.tasks.cancel('weir_missing', stranger.organization_id);
    const [first, second] = await Promise.allSettled([refusal, missing]);
    expect(first.status).toBe('rejected');
    expect(String((first as PromiseRejectedResult).reason)).toBe(
      String((second as PromiseRejectedResult).reason),
    );
    expect((await rowOf(key.organization_id, id)).cancel_requested_at).toBeNull();
    await replica.tasks.cancel(id, key.organization_id);
    provider.script.progress = () => STOPPED;
    await replica.ended(id, key.organization_id);
    await replica.close();
  });
});
