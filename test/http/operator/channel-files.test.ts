/** Channels that operators make beside those of a weir.yaml. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorOf } from '../../support/envelope.ts';
import { OperatedChannels } from '../../support/operated-channels.ts';
import { OperatorClient } from '../../support/operator-client.ts';
import { type RunningSimulator, startSimulator } from '../../support/simulator.ts';
import { removeFolder, throwawayFolder } from '../../support/throwaway.ts';
import { until } from '../../support/until.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(60_000);

let simulator: RunningSimulator;
let weir: RunningWeir;
let folder: string;
const channels = new OperatedChannels(() => weir);

const account = (id: string, more: object = {}) => ({
  ...{ id, protocol: 'openai', base_url: simulator.openai_url, api_key: `sim-${id}` },
  ...{ models: { 'gpt-4o': 'gpt-4o' }, ...more },
});

function writeFile(...entries: object[]): void {
  writeFileSync(join(folder, 'weir.yaml'), JSON.stringify({ channels: entries }));
}

beforeAll(async () => {
  simulator = await startSimulator();
  folder = throwawayFolder('channel-files');
  writeFile(account('filed'));
  const env = { WEIR_CONFIG: join(folder, 'weir.yaml') };
  weir = await startWeir({ env, shared_database: true });
});
afterAll(async () => {
  await weir.stop();
  await simulator.stop();
  removeFolder(folder);
});

test('409: a channel of the file is read-only, and the error says why', async () => {
  for (const [method, body] of [
    ...([
      ['PATCH', { weight: 2 }],
      ['DELETE', undefined],
    ] as const),
  ]) {
    const error = await errorOf(await channels.send(method, '/filed', body), 409);
    expect(error).toMatchObject({ param: 'id', code: 'conflict' });
    expect(error.message).toContain('weir.yaml');
    expect(error.hint).toContain('weir.yaml');
  }
  // Its entity tag stands for its switch.
  const stale = { 'if-match': (await channels.send('GET', '/filed')).headers.get('etag') ?? '' };
  await channels.ask('POST', '/filed/drain');
  expect((await channels.send('POST', '/filed/enable', undefined, stale)).status).toBe(412);
  await channels.ask('POST', '/filed/enable');
  expect((await channels.send('GET', '/filed')).headers.get('etag')).toBe(stale['if-match']);
  const taken = await channels.send('POST', '', account('filed'));
  expect((await errorOf(taken, 409)).param).toBe('id');
  expect(await channels.check({ channel: 'filed' })).toMatchObject({ key_tested: true });
});

test('the file wins over a row of the same id, also one that it gets later', async () => {
  await channels.ask('POST', '', account('made', { priority: 5 }));
  const shown = async () =>
    (await channels.list()).map(({ id, source, priority }) => [id, source, priority]);
  expect(await shown()).toEqual([
    ['filed', 'file', 0],
    ['made', 'row', 5],
  ]);
  writeFile(account('filed'), account('made', { priority: 9 }));
  await until('the file is applied', async () => (await shown())[1]?.[1] === 'file');
  expect(await shown()).toEqual([
    ['filed', 'file', 0],
    ['made', 'file', 9],
  ]);
  expect(await channels.ask('GET', '/made')).toMatchObject({ wins: { over: ['row'] } } as object);
  expect((await channels.send('PATCH', '/made', { weight: 2 })).status).toBe(409);
  // A switch of the channel of the file is taken back with its own entity tag.
  const drained = await channels.send('POST', '/made/drain');
  expect(drained.status).toBe(200);
  const changes = new OperatorClient<{ data: { seq: number }[] }>(
    ...(['configuration/changes', () => weir] as const),
  );
  const [change] = (await changes.ask('GET', '?id=made&kind=channel_switch')).data;
  const tag = { 'if-match': (await channels.send('GET', '/made')).headers.get('etag') ?? '' };
  const back = await changes.send('POST', `/${change?.seq}/take-back`, undefined, tag);
  expect(back.status).toBe(200);
  writeFile(account('filed'));
  await until('the row is used again', async () => (await shown())[1]?.[1] === 'row');
  expect((await shown())[1]).toEqual(['made', 'row', 5]);
  await channels.ask('DELETE', '/made');
  expect(await shown()).toEqual([['filed', 'file', 0]]);
});
