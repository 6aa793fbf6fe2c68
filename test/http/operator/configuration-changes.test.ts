/** Changes of the configuration by two operators: none is overwritten unseen, and each can be taken back. */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { verifyAudit } from '../../../db/audit/verify.ts';
import { deleteOldConfigurationChanges } from '../../../db/configuration/changes.ts';
import { CANARY, ChannelWorld, chatOn, sourcesOn } from '../../support/channel-world.ts';
import { errorOf } from '../../support/envelope.ts';
import { OperatorClient } from '../../support/operator-client.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(60_000);

interface Change {
  seq: number;
  kind: string;
  id: string;
  action: string;
  before: object | null;
  after: object | null;
  takes_back: number | null;
  taken_back_by: number | null;
  actor: { id: string };
}

let world: ChannelWorld;
const changes = new OperatorClient<Change>('configuration/changes', () => world.replicas[0]);
beforeAll(async () => {
  world = await ChannelWorld.start();
});
afterAll(() => world.stop());
afterEach(() => world.clear());

const listed = async (query = ''): Promise<Change[]> =>
  (await changes.ask<{ data: Change[] }>('GET', query)).data;
/** The latest change of a channel. */
async function latest(id = 'mine'): Promise<Change> {
  const [change] = await listed(`?id=${id}&limit=1`);
  if (!change) throw new Error(`${id} has no change`);
  return change;
}
const takeBack = async (change?: Change, headers: Record<string, string> = {}) =>
  changes.send('POST', `/${(change ?? (await latest())).seq}/take-back`, undefined, headers);
const etagOf = async (id = 'mine') =>
  (await world.channels.send('GET', `/${id}`)).headers.get('etag') ?? '';

test('a changed member gets its value back, and later changes of other members stay', async () => {
  await world.create({ id: 'mine', weight: 2 });
  await world.channels.ask('PATCH', '/mine', { weight: 5 });
  const wrong = await latest();
  await world.channels.ask('PATCH', '/mine', { priority: 7 });
  const answer = await takeBack(wrong);
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({
    ...{ object: 'configuration_change', kind: 'channel', id: 'mine', takes_back: wrong.seq },
    ...{ before: { weight: 5 }, after: { weight: 2 } },
  });
  expect((await world.channels.list())[0]).toMatchObject({ weight: 2, priority: 7 });
  await until('the other replica has it', async () => (await world.second.list())[0]?.weight === 2);
  const [last, , first] = await listed('?id=mine');
  expect(last).toMatchObject({ action: 'channel.take_back', takes_back: wrong.seq });
  expect(first).toMatchObject({ seq: wrong.seq, taken_back_by: last?.seq as number });
  // What was taken back can be had again.
  expect((await takeBack(last)).status).toBe(200);
  expect((await world.channels.list())[0]).toMatchObject({ weight: 5, priority: 7 });
  expect((await verifyAudit(world.database.sql, null)).broken_at).toBeNull();
});

test('409: a member that somebody changed later is not overwritten', async () => {
  await world.create({ id: 'mine' });
  await world.channels.ask('PATCH', '/mine', { weight: 5 });
  const change = await latest();
  await world.channels.ask('PATCH', '/mine', { weight: 6 });
  expect((await errorOf(await takeBack(change), 409)).param).toBe('seq');
  expect((await world.channels.list())[0]?.weight).toBe(6);
  const again = await latest();
  expect((await takeBack(again)).status).toBe(200);
  expect((await takeBack(change)).status).toBe(200);
  expect((await world.channels.list())[0]?.weight).toBe(1);
  // It is taken back already.
  expect((await takeBack(change)).status).toBe(409);
});

test('a removed channel comes back with its key, and as it was switched', async () => {
  await world.create({ id: 'mine', models: { 'gpt-4o': 'gpt-4o' } });
  await world.channels.ask('POST', '/mine/drain', { reason: 'moving' });
  await world.channels.ask('DELETE', '/mine');
  const removal = await latest();
  expect((await takeBack(removal)).status).toBe(200);
  expect(await world.channels.ask('GET', '/mine')).toMatchObject({
    ...{ state: 'disabled', switch: { state: 'draining', reason: 'moving' } },
    api_key_readable: true,
  } as object);
  await takeBack(await switchOf());
  await until('both replicas serve it', async () => {
    const answers = await Promise.all(world.replicas.map((weir) => chatOn(weir)));
    return answers.every(({ status }) => status === 200);
  });
  expect((await takeBack(removal)).status).toBe(409);
});

async function switchOf(): Promise<Change> {
  const [change] = await listed('?id=mine&kind=channel_switch&limit=1');
  if (!change) throw new Error('there is no switch');
  return change;
}

test('a new key is taken back, and a made channel is', async () => {
  await world.create({ id: 'mine', models: { 'gpt-4o': 'gpt-4o' } });
  const creation = await latest();
  await world.channels.ask('PATCH', '/mine', { api_key: `sim-${CANARY}-2` });
  await world.simulator.setAccount(`${CANARY}-2`, { revoked: true });
  expect((await errorOf(await takeBack(creation), 409)).param).toBe('seq');
  expect((await takeBack()).status).toBe(200);
  expect((await chatOn(world.replicas[0])).status).toBe(200);
  expect((await takeBack(creation)).status).toBe(200);
  expect(await sourcesOn(world.channels)).not.toContain('row mine');
});

test('412: a switch, an edit and a take-back after an unseen change', async () => {
  await world.create({ id: 'mine' });
  const stale = { 'if-match': await etagOf() };
  await world.channels.ask('POST', '/mine/drain');
  const drained = await latest();
  for (const [method, path, body] of [
    ...([
      ['POST', '/mine/enable', undefined],
      ['POST', '/mine/disable', {}],
      ['POST', '/mine/drain', {}],
      ['PATCH', '/mine', { weight: 3 }],
      ['DELETE', '/mine', undefined],
    ] as const),
  ]) {
    const late = await world.channels.send(method, path, body, stale);
    expect((await errorOf(late, 412)).param).toBe('If-Match');
  }
  expect((await takeBack(drained, stale)).status).toBe(412);
  expect((await takeBack(drained, { 'if-match': await etagOf() })).status).toBe(200);
  expect(await etagOf()).toBe(stale['if-match']);
  const fresh = await world.channels.send('POST', '/mine/enable', undefined, stale);
  expect(fresh.status).toBe(200);
});

test('of two operators that edit the same, one is told', async () => {
  await world.create({ id: 'mine' });
  const headers = { 'if-match': await etagOf() };
  const edits = await Promise.all(
    Array.from({ length: 8 }, (_, number) =>
      (number % 2 ? world.channels : world.second).send(
        ...(['PATCH', '/mine', { weight: number + 2 }, headers] as const),
      ),
    ),
  );
  const statuses = edits.map(({ status }) => status).sort();
  expect(statuses).toEqual([200, 412, 412, 412, 412, 412, 412, 412]);
});

test('a repeat of a take-back takes nothing back', async () => {
  await world.create({ id: 'mine' });
  await world.channels.ask('PATCH', '/mine', { weight: 5 });
  const change = await latest();
  const headers = { 'idempotency-key': crypto.randomUUID() };
  const first = await (await takeBack(change, headers)).text();
  const again = await takeBack(change, headers);
  expect([again.status, await again.text()]).toEqual([200, first]);
});

test('no list and no line has a key; 404 for what is unknown or too old', async () => {
  await world.create({ id: 'mine' });
  await world.channels.ask('PATCH', '/mine', { api_key: `sim-${CANARY}-3` });
  expect(JSON.stringify(await listed())).not.toContain(CANARY);
  const kept = JSON.stringify(await world.database.sql`select * from configuration_change`);
  expect(kept).not.toContain(CANARY);
  const change = await latest();
  for (const seq of ['0', 'x', '999999']) {
    const response = await changes.send('POST', `/${seq}/take-back`);
    expect((await errorOf(response, 404)).param).toBe('seq');
  }
  await world.database.sql`update configuration_change set at = at - interval '31 days'`;
  expect(await deleteOldConfigurationChanges(world.database.sql, 30, 1_000)).toBeGreaterThan(0);
  expect((await takeBack(change)).status).toBe(404);
  expect((await errorOf(await changes.send('GET', '?kind=key'), 400)).param).toBe('kind');
});
