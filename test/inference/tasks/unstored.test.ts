/** A result that cannot be stored, e.g. because its URL is not on the public internet. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { ResultMissingError } from '../../../src/inference/tasks/deps.ts';
import { PRODUCED, ScriptedProvider } from '../../support/scripted-provider.ts';
import { startTaskWorld, type TaskWorld } from '../../support/task-replica.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(90_000);

let world: TaskWorld;
beforeAll(async () => {
  world = await startTaskWorld();
});
afterAll(() => world.stop());

test('the task says that its result could not be stored, and names no provider (P5)', async () => {
  const provider = new ScriptedProvider();
  const output = { kind: 'image', url: 'http://10.0.0.7/secret.png' } as const;
  provider.script.progress = () => ({ ...PRODUCED, outputs: [output] });
  const replica = await world.replica({
    protocols: [provider.protocol('job')],
    fetchResult: () =>
      Promise.reject(new ResultMissingError('the host is not on the public internet')),
  });
  const key = await world.newKey(100);
  const { id } = await replica.create(key);
  const find = () => replica.tasks.find(id, key.organization_id);
  await until('the task failed', async () => {
    await world.database.sql`
      update timer set fire_at = weir_now() where kind = 'task' and name = 'poll'`;
    return (await find())?.status === 'failed';
  });
  const shown = JSON.stringify(await find());
  expect(shown).toContain('The result of the generation could not be stored.');
  expect(shown).not.toMatch(/public internet|10\.0\.0\.7/);
});
