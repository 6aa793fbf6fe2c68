/** The copies of tasks are tasks like any other: Weir adopts, polls, settles and charges them. */
import { afterAll, expect, test } from 'bun:test';
import { cloneTasks, startPolls } from '../../bench/clone-tasks.ts';
import { PRODUCED, ScriptedProvider } from '../support/scripted-provider.ts';
import { startTaskWorld } from '../support/task-replica.ts';
import { until } from '../support/until.ts';

const ORIGINALS = 2;
const COUNTS = { polled: 30, parked: 70 };
const ALL = ORIGINALS + COUNTS.polled + COUNTS.parked;
const POLLED = ORIGINALS + COUNTS.polled;

const world = await startTaskWorld();
afterAll(() => world.stop());
const { sql } = world.database;

/** Counts the rows of a table that fulfil a condition. */
async function count(rows: string): Promise<number> {
  const [row] = await sql.unsafe<{ count: number }[]>(
    `select count(*)::int4 as count from ${rows}`,
  );
  return row?.count ?? -1;
}

test('tasks that do not wait for a poll are not copied', async () => {
  await expect(cloneTasks(sql, COUNTS)).rejects.toThrow('every task must wait for its next poll');
});

test('copies have their own rows and money, are polled when they should, and end', async () => {
  const provider = new ScriptedProvider();
  provider.script = { progress: () => ({ type: 'running', status: 'processing' }) };
  const protocols = [provider.protocol('job')];
  const key = await world.newKey(10_000);
  const first = await world.replica({ protocols });
  for (let at = 0; at < ORIGINALS; at += 1) await first.create(key);
  await until(
    'each original was polled',
    () =>
      provider.accepted.length === ORIGINALS && provider.accepted.every(({ polls }) => polls > 0),
  );
  await first.close();
  const polls_before = provider.polls;

  await cloneTasks(sql, COUNTS);
  expect(await count(`task where status = 'processing'`)).toBe(ALL);
  expect(await count(`hold where status = 'held' and reference in (select id from task)`)).toBe(
    ALL,
  );
  expect(await count('actor where live')).toBe(ALL);
  expect(await count(`timer where name = 'poll'`)).toBe(ALL);
  expect(await count(`timer where name = 'deadline'`)).toBe(ALL);
  expect(await count(`timer where fire_at < now() + interval '23 hours'`)).toBe(0);
  expect(await count(`outbox where status = 'pending'`)).toBe(0);
  for (const column of ['request_id', 'submission_key', 'hold_id']) {
    expect(await count(`(select distinct ${column} from task) as found`)).toBe(ALL);
  }
  expect(await count('(select distinct job from task) as found')).toBe(ORIGINALS);
  expect(await world.imbalances()).toEqual([]);

  expect(await startPolls(sql, 60)).toBe(POLLED);
  const due = `timer where fire_at between now() + interval '30 s' and now() + interval '76 s'`;
  expect(await count(due)).toBe(POLLED);
  await sql`update timer set fire_at = now() where fire_at < now() + interval '1 hour'`;

  provider.script = { progress: () => PRODUCED };
  await world.replica({ protocols });
  await until(
    'the polled tasks end',
    async () => (await count(`task where status = 'completed'`)) === POLLED,
  );
  expect(provider.polls - polls_before).toBe(POLLED);
  expect(await count('usage_line')).toBe(POLLED);
  expect(await count(`task where status = 'processing'`)).toBe(COUNTS.parked);
  expect(await world.imbalances()).toEqual([]);
}, 90_000);
