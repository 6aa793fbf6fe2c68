/** Tasks that are read at the same time share one query, and each reader gets its own task. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Sql } from 'postgres';
import { getTaskWork } from '../../../db/tasks/rows.ts';
import { WorkReader } from '../../../src/inference/tasks/work-reader.ts';
import { ScriptedProvider } from '../../support/scripted-provider.ts';
import { startTaskWorld, type TaskWorld } from '../../support/task-replica.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(60_000);

const TASKS = 5;

let world: TaskWorld;
let ids: string[];
let queries = 0;
let counted: Sql;
beforeAll(async () => {
  world = await startTaskWorld();
  const provider = new ScriptedProvider();
  provider.script.progress = () => ({ type: 'running', status: 'processing' });
  const replica = await world.replica({ protocols: [provider.protocol('job')] });
  const key = await world.newKey(100);
  const tasks = await Promise.all(Array.from({ length: TASKS }, () => replica.create(key)));
  ids = tasks.map(({ id }) => id);
  await until('the provider has all jobs', async () => {
    const rows = await world.database.sql`select 1 from task where job is not null`;
    return rows.length === TASKS;
  });
  await replica.close();
  counted = new Proxy(world.database.sql, {
    apply: (sql, self, parts: unknown[]) => {
      queries += 1;
      return Reflect.apply(sql, self, parts);
    },
  });
});
afterAll(() => world.stop());

/** Resolves with what a function returned, and with the number of queries that it made. */
async function countQueries<Result>(work: () => Promise<Result>): Promise<[Result, number]> {
  const before = queries;
  return [await work(), queries - before];
}

test('tasks that are read at the same time share one query', async () => {
  const reader = new WorkReader(counted);
  const twice = [...ids, ...ids];
  const [works, made] = await countQueries(() => Promise.all(twice.map((id) => reader.get(id))));
  expect(made).toBe(1);
  expect(works.map(({ id }) => id)).toEqual(twice);
  for (const { ms_left: _, submitted_ms_ago: __, age_ms: ___, ...work } of works) {
    expect(await getTaskWork(world.database.sql, work.id)).toMatchObject(work);
    expect(work.input).toBeNull();
  }
});

test('a query reads at most 256 tasks', async () => {
  const reader = new WorkReader(counted);
  const many = Array.from({ length: 257 }, (_, at) => ids[at % TASKS] as string);
  const [works, made] = await countQueries(() => Promise.all(many.map((id) => reader.get(id))));
  expect(made).toBe(2);
  expect(works.map(({ id }) => id)).toEqual(many);
});

test('only the reader of a missing task gets an error', async () => {
  const reader = new WorkReader(counted);
  const [found, missing] = await Promise.allSettled([
    reader.get(ids[0] as string),
    reader.get('img_missing'),
  ]);
  expect(found).toMatchObject({ status: 'fulfilled', value: { id: ids[0] } });
  expect(missing).toMatchObject({
    status: 'rejected',
    reason: new Error('task img_missing does not exist'),
  });
});

test('a task is read again each time, also after an error of the database', async () => {
  const id = ids[0] as string;
  let fails = true;
  const failing = new Proxy(world.database.sql, {
    apply: (sql, self, parts: unknown[]) =>
      fails ? Promise.reject(new Error('away')) : Reflect.apply(sql, self, parts),
  });
  const reader = new WorkReader(failing);
  const failed = await Promise.allSettled(ids.map((each) => reader.get(each)));
  expect(failed.map(({ status }) => status)).toEqual(ids.map(() => 'rejected'));
  fails = false;
  await world.database.sql`update task set channel_id = 'one' where id = ${id}`;
  expect((await reader.get(id)).channel_id).toBe('one');
  await world.database.sql`update task set channel_id = 'two' where id = ${id}`;
  expect((await reader.get(id)).channel_id).toBe('two');
});
