import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { compareMoney, replayAll } from '../../support/histories.ts';
import { lose, PRODUCED, reject, ScriptedProvider } from '../../support/scripted-provider.ts';
import { IMAGE, startTaskWorld, type TaskWorld } from '../../support/task-replica.ts';
import { until } from '../../support/until.ts';

const isDeadlock = (error: unknown) => (error as { code?: string }).code === '40P01';

describe('durable tasks', () => {
  let world: TaskWorld;

  beforeAll(async () => {
    world = await startTaskWorld();
  });

  afterAll(async () => {
    expect(await world.imbalances()).toEqual([]);
    await world.stop();
  });

  async function moneyOf(organization_id: string) {
    const [row] = await world.database.sql`
      select balance_nano_usd::int8 as balance, held_nano_usd::int8 as held,
        settled_nano_usd::int8 as settled from organization where id = ${organization_id}`;
    return row as unknown as { balance: number; held: number; settled: number };
  }

  const linesOf = (organization_id: string) => world.database.sql`
    select id, charged_nano_usd from usage_line where organization_id = ${organization_id}`;

  test('P3: a video task has a hold, and is submitted, polled, collected and charged once', async () => {
    const provider = new ScriptedProvider();
    const replica = await world.replica({ protocols: [provider.protocol('job')] });
    const key = await world.newKey(100);
    const created = await replica.create(key);
    expect(created).toMatchObject({ status: 'pending', billing_transaction_id: null });
    expect(created.id).toMatch(/^weir_[0-9a-f]{32}$/);
    expect((await moneyOf(key.organization_id)).held).toBeGreaterThan(0);
    const ended = await replica.ended(created.id, key.organization_id);
    expect(ended).toMatchObject({
      status: 'completed',
      error: null,
      outputs: [{ kind: 'video', file: `${created.id}/1.mp4`, content_type: 'video/mp4' }],
    });
    expect(replica.files.get(`${created.id}/1.mp4`)).toBe('bytes of a video');
    const lines = await linesOf(key.organization_id);
    expect(lines).toHaveLength(1);
    expect(ended.billing_transaction_id).toBe(`txn_${lines[0]?.['id'].replaceAll('-', '')}`);
    expect(await moneyOf(key.organization_id)).toMatchObject({
      held: 0,
      settled: lines[0]?.['charged_nano_usd'],
    });
    expect(provider.accepted).toHaveLength(1);
    const [row] = await world.database.sql`select input from task where id = ${created.id}`;
    expect(row?.['input']).toBeNull();
    await replica.close();
  });

  test('P4: a call that waits gets the image after its charge is committed', async () => {
    const provider = new ScriptedProvider();
    const replica = await world.replica({ protocols: [provider.protocol('inline')] });
    const key = await world.newKey(100);
    const view = await replica.create(key, { name: IMAGE, wait: true });
    expect(view).toMatchObject({
      status: 'completed',
      outputs: [{ kind: 'image', file: `${view.id}/1.png` }],
    });
    expect(await linesOf(key.organization_id)).toHaveLength(1);
    await replica.close();
  });

  test('P3: a job that the provider refuses is refunded once, with the message for the client', async () => {
    const provider = new ScriptedProvider();
    provider.script.progress = () => ({
      type: 'failed',
      reason: 'moderation',
      public_message: 'Refused by the safety system.',
      message: 'internal',
    });
    const replica = await world.replica({ protocols: [provider.protocol('job')] });
    const key = await world.newKey(100);
    const { id } = await replica.create(key, { webhook_url: 'https://example.com/hook' });
    expect(await replica.ended(id, key.organization_id)).toMatchObject({
      status: 'failed',
      outputs: [],
      error: { code: 'content_policy_violation', message: 'Refused by the safety system.' },
    });
    expect(await moneyOf(key.organization_id)).toEqual({ balance: 100e9, held: 0, settled: 0 });
    await until('the end is announced', () => replica.announced.includes(id));
    await replica.close();
  });

  test('a submission that an upstream did not accept goes to the next channel', async () => {
    const failing = new ScriptedProvider();
    failing.script.beforeAccept = reject;
    const healthy = new ScriptedProvider();
    const protocols = [failing.protocol('job'), healthy.protocol('job')];
    const replica = await world.replica({ protocols });
    const key = await world.newKey(100);
    const { id } = await replica.create(key);
    expect(await replica.ended(id, key.organization_id)).toMatchObject({ status: 'completed' });
    expect([failing.accepted.length, healthy.accepted.length]).toEqual([0, 1]);
    await replica.close();
  });

  test('P10: after a lost answer the job is sent again only to an idempotent upstream, on the same channel', async () => {
    const provider = new ScriptedProvider();
    let losses = 0;
    provider.script.afterAccept = () => {
      losses += 1;
      if (losses === 1) lose();
    };
    const other = new ScriptedProvider();
    const protocols = [provider.protocol('job', { idempotent: true }), other.protocol('job')];
    const replica = await world.replica({ protocols });
    const key = await world.newKey(100);
    const { id } = await replica.create(key);
    expect(await replica.ended(id, key.organization_id)).toMatchObject({ status: 'completed' });
    expect([provider.accepted.length, other.accepted.length]).toEqual([1, 0]);
    await replica.close();
  });

  test('P10: after a lost answer the job is looked up if the provider has a lookup', async () => {
    const provider = new ScriptedProvider();
    provider.script.afterAccept = lose;
    const replica = await world.replica({ protocols: [provider.protocol('job', { finds: true })] });
    const key = await world.newKey(100);
    const { id } = await replica.create(key);
    expect(await replica.ended(id, key.organization_id)).toMatchObject({ status: 'completed' });
    expect(provider.accepted).toHaveLength(1);
    await replica.close();
  });

  test('P10: an unknown outcome holds the money until the deadline, then it is refunded', async () => {
    const provider = new ScriptedProvider();
    provider.script.afterAccept = lose;
    const replica = await world.replica({
      protocols: [provider.protocol('job')],
      deadline_ms: 4_000,
    });
    const key = await world.newKey(100);
    const { id } = await replica.create(key);
    await until('the outcome is unknown', async () => {
      const [row] = await world.database.sql`
        select 1 from actor where id = ${id} and snapshot->'value'->'processing' ? 'unknown'`;
      return row !== undefined;
    });
    expect((await moneyOf(key.organization_id)).held).toBeGreaterThan(0);
    expect(await replica.ended(id, key.organization_id)).toMatchObject({
      status: 'failed',
      error: { code: 'timeout_error' },
    });
    expect(await moneyOf(key.organization_id)).toEqual({ balance: 100e9, held: 0, settled: 0 });
    expect(provider.accepted).toHaveLength(1);
    await replica.close();
  });

  test('P3: a job without a result at the deadline is canceled, and its task fails', async () => {
    const provider = new ScriptedProvider();
    provider.script.progress = () => ({ type: 'running', status: 'processing' });
    const replica = await world.replica({
      protocols: [provider.protocol('job')],
      deadline_ms: 2_500,
    });
    const key = await world.newKey(100);
    const { id } = await replica.create(key);
    expect(await replica.ended(id, key.organization_id)).toMatchObject({
      status: 'failed',
      error: { code: 'timeout_error' },
    });
    await until('the job is cancelled', () => provider.accepted[0]?.cancelled);
    await replica.close();
  });

  test('P8: if the client leaves, the upstream call is aborted, and nothing is charged', async () => {
    const provider = new ScriptedProvider();
    let isAborted = false;
    provider.script.beforeAccept = ({ signal }) =>
      new Promise((_, fail) =>
        signal.addEventListener('abort', () => {
          isAborted = true;
          fail(signal.reason);
        }),
      );
    const replica = await world.replica({
      protocols: [provider.protocol('inline')],
      channel: { timeout_ms: 60_000 },
    });
    const key = await world.newKey(100);
    const client = new AbortController();
    const created = replica.create(key, { name: IMAGE, wait: true, signal: client.signal });
    const [task] = await until('the task exists', async () => {
      const rows = await world.database.sql<{ id: string }[]>`
        select id from task where key_id = ${key.id} and submitted_at is not null`;
      return rows.length > 0 && rows;
    });
    await Bun.sleep(50);
    client.abort();
    await expect(created).rejects.toThrow();
    const view = await replica.ended(task?.id ?? '', key.organization_id);
    expect(view).toMatchObject({ status: 'failed', error: { code: 'request_cancelled' } });
    expect(isAborted).toBe(true);
    expect(await moneyOf(key.organization_id)).toEqual({ balance: 100e9, held: 0, settled: 0 });
    await replica.close();
  });

  test('P7: 16 creates with one idempotency key make one task and one charge', async () => {
    const provider = new ScriptedProvider();
    const replica = await world.replica({ protocols: [provider.protocol('job')] });
    const key = await world.newKey(100);
    const views = await Promise.all(
      Array.from({ length: 16 }, () => replica.create(key, { idempotency_key: 'order-1' })),
    );
    expect(new Set(views.map(({ id }) => id)).size).toBe(1);
    const id = views[0]?.id ?? '';
    await replica.ended(id, key.organization_id);
    expect((await replica.create(key, { idempotency_key: 'order-1' })).id).toBe(id);
    expect(await linesOf(key.organization_id)).toHaveLength(1);
    expect(provider.accepted).toHaveLength(1);
    const other = replica.create(key, { idempotency_key: 'order-1', body_hash: 'another' });
    await expect(other).rejects.toMatchObject({ id: 'idempotency_key_reused' });
    await replica.close();
  });

  test('P2: of 20 concurrent creates exactly the 5 that the balance covers are admitted', async () => {
    const provider = new ScriptedProvider();
    provider.script.progress = () => ({ type: 'running', status: 'queued' });
    const replica = await world.replica({ protocols: [provider.protocol('job')] });
    const probe = await world.newKey(100);
    await replica.create(probe);
    const { held } = await moneyOf(probe.organization_id);
    const key = await world.newKey((held * 5.5) / 1e9);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, () => replica.create(key)),
    );
    const refused = outcomes.flatMap((each) =>
      each.status === 'rejected' ? [each.reason.id] : [],
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    expect(new Set(refused)).toEqual(new Set(['balance_in_flight']));
    const [{ tasks } = { tasks: 0 }] = await world.database.sql<{ tasks: number }[]>`
      select count(*)::int4 as tasks from task where key_id = ${key.id}`;
    expect(tasks).toBe(5);
    const broke = await world.newKey(1e-9);
    await expect(replica.create(broke)).rejects.toMatchObject({ id: 'insufficient_balance' });
    await replica.close();
  });

  test('P2: idle money of a grant is recalled before a create is refused', async () => {
    const provider = new ScriptedProvider();
    const replica = await world.replica({ protocols: [provider.protocol('job')] });
    const probe = await world.newKey(100);
    await replica.create(probe);
    const { held } = await moneyOf(probe.organization_id);
    const key = await world.newKey((held * 1.2) / 1e9);
    // A chat call leaves a part of the balance in this replica's grant.
    const quota = replica.quotas.getOrCreate(key);
    const reservation = await quota.reserve({ amount: held / 2, minimum: () => held / 2 });
    reservation.release();
    const { id } = await replica.create(key);
    expect(await replica.ended(id, key.organization_id)).toMatchObject({ status: 'completed' });
    await replica.close();
  });

  test('P3: the task of a dead replica is adopted: its job is polled, its submission is not repeated', async () => {
    const provider = new ScriptedProvider();
    let isDone = false;
    provider.script.progress = () =>
      isDone
        ? {
            type: 'produced',
            outputs: [{ kind: 'video', url: 'https://files.invalid/v' }],
            usage: {},
          }
        : { type: 'running', status: 'processing' };
    const protocol = provider.protocol('job');
    const first = await world.replica({ protocols: [protocol] });
    const key = await world.newKey(100);
    const { id } = await first.create(key);
    await until('it was polled', () => provider.polls > 0);
    await first.crash();
    isDone = true;
    const second = await world.replica({ protocols: [protocol] });
    expect(await second.ended(id, key.organization_id)).toMatchObject({ status: 'completed' });
    expect(provider.accepted).toHaveLength(1);
    expect(await linesOf(key.organization_id)).toHaveLength(1);
    await second.close();
  });

  test('P1: tasks and calls of two replicas share one organization, and all sums match', async () => {
    const provider = new ScriptedProvider();
    let polls = 0;
    provider.script.progress = () => {
      polls += 1;
      if (polls % 3 > 0) return PRODUCED;
      const failed = { type: 'failed', reason: 'upstream', public_message: 'no' } as const;
      return { ...failed, message: 'no' };
    };
    const protocols = [provider.protocol('job')];
    const replicas = [await world.replica({ protocols }), await world.replica({ protocols })];
    const key = await world.newKey(1_000);
    const running = replicas.map(async (replica) => {
      const chats = Array.from({ length: 40 }, async () => {
        const reservation = await replica.quotas
          .getOrCreate(key)
          .reserve({ amount: 1e9, minimum: () => 1 });
        await Bun.sleep(20);
        reservation.release();
      });
      const creates = Array.from({ length: 40 }, () => replica.create(key));
      await Promise.all(chats);
      return Promise.all(creates);
    });
    const created = (await Promise.all(running)).flat();
    const ended = await Promise.all(
      created.map(({ id }) => replicas[0]?.ended(id, key.organization_id)),
    );
    const completed = ended.filter((view) => view?.status === 'completed');
    expect(completed.length).toBeGreaterThan(0);
    expect(completed.length).toBeLessThan(created.length);
    expect(await linesOf(key.organization_id)).toHaveLength(completed.length);
    for (const replica of replicas) await replica.close();
    const { balance, held, settled } = await moneyOf(key.organization_id);
    expect(held).toBe(0);
    expect(balance + settled).toBe(1_000e9);
    expect(replicas.flatMap(({ errors }) => errors).filter(isDeadlock)).toEqual([]);
  });

  test('P6, P11: a status is read from the row alone, and only by its own organization', async () => {
    const provider = new ScriptedProvider();
    provider.script.progress = () => ({ type: 'running', status: 'queued' });
    const replica = await world.replica({ protocols: [provider.protocol('job')] });
    const key = await world.newKey(100);
    const { id } = await replica.create(key);
    await until('it was polled', () => provider.polls > 0);
    const before = provider.polls;
    // A lock on the rows of actor and task must not make a reader wait.
    await world.database.sql.begin(async (tx) => {
      await tx`select 1 from actor where id = ${id} for update`;
      await tx`select 1 from task where id = ${id} for update`;
      const views = await Promise.all(
        Array.from({ length: 200 }, () => replica.tasks.find(id, key.organization_id)),
      );
      expect(new Set(views.map((view) => view?.status))).toEqual(new Set(['processing']));
    });
    expect(provider.polls - before).toBeLessThan(3);
    expect(await replica.tasks.find(id, 'org_stranger')).toBeUndefined();
    await replica.close();
  });

  test('P1: each event log of the tests above replays, and its money is the money of its hold', async () => {
    const { sql } = world.database;
    const { actors, problems } = await replayAll(sql);
    expect(problems).toEqual([]);
    expect(actors).toBeGreaterThan(20);
    expect(await compareMoney(sql)).toEqual({ tasks: actors, problems: [] });
    const foreign = await sql`
      select 1 from actor join task using (id)
      where actor.organization_id is distinct from task.organization_id`;
    expect(foreign).toHaveLength(0);
  });
});
