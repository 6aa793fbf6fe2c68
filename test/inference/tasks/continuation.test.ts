import { afterAll, beforeAll, expect, test } from 'bun:test';
import { resolveContinuation } from '../../../src/inference/tasks/continuation.ts';
import { PRODUCED, ScriptedProvider } from '../../support/scripted-provider.ts';
import { startTaskWorld, type TaskWorld } from '../../support/task-replica.ts';

let world: TaskWorld;

beforeAll(async () => {
  world = await startTaskWorld();
});

afterAll(() => world.stop());

const music = (continue_clip_id: string) =>
  ({ scene: 'music', action: 'MUSIC', prompt: 'on', continue_clip_id }) as const;

test('P5, P6: a clip is continued by its public id, on its own channel and by its own organization only', async () => {
  const provider = new ScriptedProvider();
  const [output] = PRODUCED.outputs;
  provider.script.progress = () => ({
    ...PRODUCED,
    outputs: output ? [output, { ...output, continuation_id: 'upstream-clip' }] : [],
  });
  const replica = await world.replica({ protocols: [provider.protocol('job')] });
  const key = await world.newKey(100);
  const { id } = await replica.create(key);
  const { outputs } = await replica.ended(id, key.organization_id);
  expect(outputs.map(({ clip_id }) => clip_id)).toEqual([undefined, `${id}-2`]);
  expect(JSON.stringify(outputs)).not.toContain('upstream-clip');
  const { sql } = world.database;
  const { input, channel_id } = await resolveContinuation(
    sql,
    music(`${id}-2`),
    key.organization_id,
  );
  expect(input).toMatchObject({ continue_clip_id: 'upstream-clip' });
  expect(channel_id).toBe('channel-0');
  for (const [name, organization] of [
    [`${id}-2`, 'org_stranger'],
    [`${id}x-2`, key.organization_id],
    ['upstream-clip', key.organization_id],
  ] as const) {
    const refused = resolveContinuation(sql, music(name), organization);
    await expect(refused).rejects.toMatchObject({
      id: 'invalid_request',
      details: { param: 'continue_clip_id' },
    });
  }
});
