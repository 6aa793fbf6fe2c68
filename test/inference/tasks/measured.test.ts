/**
 * A video that follows its source: the longest source in the most expensive resolution is held, and
 * what the provider reports or Weir measures in the result is charged (P17).
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { taskRecord } from '../../../src/http/tasks/answer.ts';
import { generationModel } from '../../support/contracts.ts';
import { filmOf } from '../../support/mp4.ts';
import { ScriptedProvider } from '../../support/scripted-provider.ts';
import { startTaskWorld, type TaskWorld } from '../../support/task-replica.ts';

setDefaultTimeout(60_000);

const NAME = 'topaz-video-upscale';
const video_url = 'https://example.com/a.mp4';
const output = {
  ...({ kind: 'video', url: 'https://files.invalid/1.mp4', content_type: 'video/mp4' } as const),
};
const HD = filmOf({ seconds: 5, width: 1_920, height: 1_080 });

let world: TaskWorld;
beforeAll(async () => {
  world = await startTaskWorld();
});
afterAll(async () => {
  expect(await world.imbalances()).toEqual([]);
  await world.stop();
});

/** Upscales a video, and returns its hold and its charge, USD, and the record of the task. */
async function upscale(file: Uint8Array, reported: { duration?: number; seconds?: number } = {}) {
  const provider = new ScriptedProvider();
  const { seconds, ...more } = reported;
  provider.script.progress = () => ({
    type: 'produced',
    outputs: [{ ...output, ...more }],
    usage: seconds === undefined ? {} : { seconds },
  });
  const replica = await world.replica({
    protocols: [provider.protocol('job')],
    channel: { models: { [NAME]: 'fal-ai/topaz/upscale/video' } },
    fetchResult: async () => ({
      stream: new Blob([new Uint8Array(file)]).stream(),
      content_type: 'video/mp4',
    }),
  });
  const key = await world.newKey(100);
  const input = generationModel(NAME).contract.accept({ video_url });
  const { id } = await replica.create(key, { name: NAME, input });
  const view = await replica.ended(id, key.organization_id);
  const [row] = await world.database.sql`
    select hold_nano_usd / 1e9 as hold, charged_nano_usd / 1e9 as charge, estimated
    from task join usage_line on usage_line.id = task.billing_id where task.id = ${id}`;
  await replica.close();
  return { ...row, view } as unknown as {
    hold: number;
    charge: number;
    estimated: boolean;
    view: typeof view;
  };
}

describe('P17: an upscaled video', () => {
  test('is charged by the length and the resolution of the result', async () => {
    const { hold, charge, estimated, view } = await upscale(HD);
    expect({ hold: Number(hold), charge: Number(charge), estimated }).toEqual({
      ...{ hold: 4.8, charge: 0.1, estimated: false },
    });
    // The measures are not shown.
    expect(JSON.stringify(taskRecord(view, (name) => name))).not.toContain('1080');
  });

  test.each([
    ['720p', filmOf({ seconds: 5, width: 1_280, height: 720, is_header_last: true }), 0.05],
    ['4k', filmOf({ seconds: 2.5, width: 3_840, height: 2_160 }), 0.2],
    ['portrait', filmOf({ seconds: 5, width: 1_080, height: 1_920 }), 0.1],
  ])('%s', async (_, file, usd) => {
    expect(Number((await upscale(file)).charge)).toBe(usd);
  });

  test('is charged by the length that the provider reports, if it reports one', async () => {
    expect(Number((await upscale(HD, { seconds: 4 })).charge)).toBe(0.08);
    expect(Number((await upscale(HD, { duration: 3 })).charge)).toBe(0.06);
  });

  test('is charged at the upper bound if its length is not known, and marked', async () => {
    const { charge, estimated } = await upscale(Buffer.from('no MP4 file'));
    expect({ charge: Number(charge), estimated }).toEqual({ charge: 4.8, estimated: true });
  });
});
