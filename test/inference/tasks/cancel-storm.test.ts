/** Many tasks that are canceled at any time, on two replicas of which one dies (P1, P3, P10). */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { findListedTask } from '../../../db/tasks/list.ts';
import type { Progress } from '../../../src/upstreams/generation/contract.ts';
import { Random } from '../../sim/random.ts';
import {
  type AcceptedJob,
  lose,
  PRODUCED,
  reject,
  ScriptedProvider,
} from '../../support/scripted-provider.ts';
import { startTaskWorld } from '../../support/task-replica.ts';

setDefaultTimeout(120_000);

const TASKS = 60;
/** Requests to cancel come within this time after the creation of a task. */
const WITHIN_MS = 3_000;
const STOPPED: Progress = {
  type: 'failed',
  reason: 'upstream',
  public_message: 'It failed.',
  message: 'status canceled',
};

test('what the provider reports decides whether a canceled task is charged', async () => {
  const seed = Math.floor(Math.random() * 1e9);
  const random = new Random(seed);
  const world = await startTaskWorld();
  const provider = new ScriptedProvider();
  /** The last report of each job that has ended, by the idempotency key of its submission. */
  const reports = new Map<string, Progress['type']>();
  const plans = new Map<string, { polls: number; obeys: boolean }>();
  const planOf = ({ id }: AcceptedJob) => {
    const plan = plans.get(id) ?? { polls: 1 + random.below(3), obeys: random.chance(0.5) };
    plans.set(id, plan);
    return plan;
  };
  provider.script = {
    beforeAccept: () => {
      if (random.chance(0.2)) reject();
    },
    afterAccept: () => {
      if (random.chance(0.2)) lose();
    },
    progress: (job) => {
      const { polls, obeys } = planOf(job);
      if (job.cancelled && obeys) {
        reports.set(job.idempotency_key, 'failed');
        return STOPPED;
      }
      if (job.polls < polls) return { type: 'running', status: 'processing' };
      reports.set(job.idempotency_key, 'produced');
      return PRODUCED;
    },
  };
  const protocols = [provider.protocol('job', { finds: true })];
  const replicas = [
    await world.replica({ protocols }),
    await world.replica({ protocols }),
  ] as const;
  const key = await world.newKey(10_000);
  const crashed = Bun.sleep(WITHIN_MS / 2).then(() => replicas[0].crash());
  const ids = await Promise.all(
    Array.from({ length: TASKS }, async (_, number) => {
      const { id } = await replicas[number % 2 === 0 ? 0 : 1].create(key);
      if (random.chance(0.3)) return id;
      await Bun.sleep(random.below(WITHIN_MS));
      // The first replica may be dead by now. Its clients then request another one.
      await random
        .pick(replicas)
        .tasks.cancel(id, key.organization_id)
        .catch(() => replicas[1].tasks.cancel(id, key.organization_id));
      return id;
    }),
  );
  await crashed;
  const wrong: object[] = [];
  /** How many tasks ended in each way, so that the test shows that it reached all of them. */
  const endings = { charged: 0, charged_though_canceled: 0, canceled: 0 };
  for (const id of ids) {
    const { status } = await replicas[1].ended(id, key.organization_id);
    const row = await findListedTask(world.database.sql, key.organization_id, id);
    const [{ submission_key = '' } = {}] = await world.database.sql<{ submission_key: string }[]>`
      select submission_key from task where id = ${id}`;
    const report = reports.get(submission_key);
    const isCharged = (row?.charged_nano_usd ?? 0) > 0;
    const isRight =
      status === 'completed'
        ? report === 'produced' && isCharged
        : report !== 'produced' && !isCharged && row?.held_nano_usd === 0;
    if (isCharged) endings.charged += 1;
    if (isCharged && row?.cancel_requested_at) endings.charged_though_canceled += 1;
    if (row?.error_code === 'request_cancelled') endings.canceled += 1;
    if (!isRight) wrong.push({ id, status, report, error: row?.error_code, isCharged });
  }
  expect({ seed, wrong }).toEqual({ seed, wrong: [] });
  expect(Object.values(endings).filter((count) => count < 3)).toEqual([]);
  // A job was submitted at most once for each task.
  expect(new Set(provider.accepted.map((job) => job.idempotency_key)).size).toBe(
    provider.accepted.length,
  );
  expect(await world.imbalances()).toEqual([]);
  await world.stop();
});
