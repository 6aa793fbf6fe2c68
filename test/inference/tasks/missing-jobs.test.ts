/**
 * An upstream that accepted a job and later says that it has no such job: the task fails and its money
 * is free again within a bounded time (P16), although the upstream never says that the job failed.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { connectDatabase, type Database } from '../../../db/client.ts';
import { findImbalances } from '../../../db/ledger/audit.ts';
import { freePort } from '../../support/ports.ts';
import { createTestDatabase } from '../../support/postgres.ts';
import { PRODUCED, ScriptedProvider } from '../../support/scripted-provider.ts';
import { startSimulator } from '../../support/simulator.ts';
import { startTaskWorld, type TaskWorld } from '../../support/task-replica.ts';
import { until } from '../../support/until.ts';
import { startWeir } from '../../support/weir.ts';

setDefaultTimeout(90_000);

const SIMULATOR = new URL('../../../simulator/main.ts', import.meta.url).pathname;

/** Makes the next poll of every task due now. */
const hurry = ({ sql }: Database) =>
  sql`update timer set fire_at = weir_now() where kind = 'task' and name = 'poll'`;

/** Makes jobs that are missing be missing for this much longer. */
const age = ({ sql }: Database, seconds: number) => sql`
  update task set job = jsonb_set(job, '{missing,since}', to_jsonb(
    (job #>> '{missing,since}')::timestamptz - ${seconds} * interval '1 second'))
  where job ? 'missing'`;

describe('a job that its upstream no longer has', () => {
  let world: TaskWorld;
  beforeAll(async () => {
    world = await startTaskWorld();
  });
  afterAll(() => world.stop());

  const missing = { type: 'missing', message: 'no such job' } as const;
  const running = { type: 'running', status: 'processing' } as const;

  async function start(provider: ScriptedProvider) {
    const replica = await world.replica({ protocols: [provider.protocol('job')] });
    const key = await world.newKey(100);
    const { id } = await replica.create(key);
    const money = async () => {
      const [row] = await world.database.sql`
        select balance_nano_usd as balance, held_nano_usd as held from organization
        where id = ${key.organization_id}`;
      return { ...row };
    };
    /** Waits until the provider was polled this many times, and each time makes the next poll due. */
    const polled = (times: number) =>
      until(`${times} polls`, async () => {
        await hurry(world.database);
        return provider.polls >= times;
      });
    const status = async () =>
      (await replica.tasks.find(id, key.organization_id))?.status ?? 'not found';
    /** Ends the task, so that the next test's replica does not adopt it. */
    const end = async () => {
      provider.script.progress = () => PRODUCED;
      await until('the task ends', async () => {
        await hurry(world.database);
        return (await status()) === 'completed';
      });
      await replica.close();
    };
    return { replica, key, id, money, polled, status, end };
  }

  test('P16: fails with a refund after a minute, and is logged once', async () => {
    const provider = new ScriptedProvider();
    provider.script.progress = () => missing;
    const { replica, key, id, money, polled } = await start(provider);
    await polled(3);
    await age(world.database, 60);
    await until('the task ends', async () => {
      await hurry(world.database);
      return (await replica.tasks.find(id, key.organization_id))?.status === 'failed';
    });
    const { error, billing_transaction_id } = await replica.ended(id, key.organization_id);
    expect({ error, billing_transaction_id }).toEqual({
      error: {
        code: 'upstream_error',
        message: 'The model provider does not know this generation any more.',
      },
      billing_transaction_id: null,
    });
    expect(provider.polls).toBeGreaterThanOrEqual(5);
    expect(await money()).toEqual({ balance: 100e9, held: 0 });
    expect(replica.errors).toHaveLength(1);
    expect(await world.imbalances()).toEqual([]);
    await replica.close();
  });

  test('is polled again for a minute, however many polls that takes', async () => {
    const provider = new ScriptedProvider();
    provider.script.progress = () => missing;
    const { replica, polled, status, money, end } = await start(provider);
    await polled(12);
    expect(await status()).toBe('processing');
    expect(await money()).not.toMatchObject({ held: 0 });
    expect(replica.errors).toEqual([]);
    await end();
  });

  test('is polled at least five times, however long that takes', async () => {
    const provider = new ScriptedProvider();
    provider.script.progress = () => missing;
    const { polled, status, end } = await start(provider);
    await polled(1);
    await until('the poll is counted', async () => (await age(world.database, 3_600)).count > 0);
    await polled(4);
    expect(await status()).toBe('processing');
    await end();
  });

  test('and is known again later: the count starts anew, and the result is charged', async () => {
    const provider = new ScriptedProvider();
    const answers = [...Array(4).fill(missing), running, ...Array(4).fill(missing), PRODUCED];
    provider.script.progress = ({ polls }) => answers[Math.min(polls, answers.length) - 1];
    const { replica, key, id, polled } = await start(provider);
    await polled(4);
    await until('the poll is counted', async () => (await age(world.database, 3_600)).count > 0);
    await polled(10);
    expect(await replica.ended(id, key.organization_id)).toMatchObject({ status: 'completed' });
    expect(replica.errors).toEqual([]);
    expect(await world.imbalances()).toEqual([]);
    await replica.close();
  });

  test('an answer that cannot be read is logged once, and the task goes on', async () => {
    const provider = new ScriptedProvider();
    provider.script.progress = ({ polls }) =>
      polls < 6 ? { type: 'unknown', message: 'status DAYDREAMING' } : PRODUCED;
    const { replica, key, id, polled } = await start(provider);
    await polled(6);
    expect(await replica.ended(id, key.organization_id)).toMatchObject({ status: 'completed' });
    expect(replica.errors).toHaveLength(1);
    await replica.close();
  });
});

/** One model of each protocol whose jobs are polled: protocol, path, model, route, more of the body. */
const POLLED = [
  ['veo', '/google/v1beta', 'veo-3.1', 'videos'],
  ['xai', '/xai/v1', 'grok-imagine-video', 'videos'],
  ['bfl', '/bfl/v1', 'flux-1.1-pro', 'images', { async: true }],
  ['kling', '/kling', 'kling-3.0', 'videos'],
  ['runway', '/runway', 'runway-gen4.5', 'videos'],
  ['ark', '/ark/api/v3', 'seedance-2.0', 'videos'],
  ['midjourney', '/midjourney/mj', 'midjourney', 'images'],
  ['suno', '/suno', 'suno_music', 'music'],
  ['fal', '/fal', 'elevenlabs-sound-effects', 'audio'],
  ['replicate', '/replicate/v1', 'ideogram-v3', 'images'],
] as const;

test('P16: after a restart of the simulator, the tasks of every protocol fail with a refund', async () => {
  const command = [process.execPath, SIMULATOR, '--port', String(await freePort())];
  const first = await startSimulator(command);
  const fresh = await createTestDatabase();
  const database = connectDatabase(fresh.url, { pool: 'single' });
  const { sql } = database;
  const channels = POLLED.map(([protocol, path, model]) => ({
    ...{ id: protocol, protocol, base_url: first.url + path, api_key: `sim-${protocol}` },
    models: { [model]: protocol === 'replicate' ? `lab/${model}` : model },
  }));
  const weir = await startWeir({
    config: JSON.stringify({ channels }),
    env: { DATABASE_URL: fresh.url },
  });
  const headers = {
    authorization: `Bearer ${weir.api_key}`,
    'content-type': 'application/json',
  };
  const prompt = 'A lighthouse [[sim task_ms=3600000]]';
  const tasks = await Promise.all(
    POLLED.map(async ([, , model, route, more]) => {
      const response = await fetch(`${weir.base_url}/v1/${route}/generations`, {
        ...{ method: 'POST', headers, body: JSON.stringify({ model, prompt, ...more }) },
      });
      const task = (await response.json()) as { id: string; poll_url: string };
      expect({ model, status: response.status, task }).toMatchObject({ status: 200 });
      return { model, ...task };
    }),
  );
  await until('every job is accepted', async () => {
    const [row] = await sql`select count(*)::int as jobs from task where job is not null`;
    return row?.['jobs'] === POLLED.length;
  });
  await first.stop();
  const second = await startSimulator(command);

  await until('every job is missing', async () => {
    await hurry(database);
    return (await sql`select 1 from task where job ? 'missing'`).length === POLLED.length;
  });
  await age(database, 60);
  await until('every task ends', async () => {
    await hurry(database);
    return (await sql`select 1 from task where status = 'failed'`).length === POLLED.length;
  });
  for (const { model, poll_url } of tasks) {
    const record = await (await fetch(weir.base_url + poll_url, { headers })).json();
    expect({ model, record: JSON.stringify(record) }).toMatchObject({
      record: expect.stringContaining('does not know this generation any more'),
    });
  }
  const [money] = await sql`
    select sum(held_nano_usd)::int8 as held, sum(deposited_nano_usd - balance_nano_usd)::int8 as spent
    from organization`;
  expect({ ...money }).toEqual({ held: 0, spent: 0 });
  expect(await findImbalances(sql)).toEqual([]);
  // Each task has one line; polls that failed while the simulator was away have others.
  const lines = weir.output().split('\n');
  for (const { id } of tasks) {
    const own = lines.filter((line) => line.includes('no such job') && line.includes(id));
    expect(own).toHaveLength(1);
  }
  await weir.stop();
  await second.stop();
  await database.close();
  await fresh.drop();
});
