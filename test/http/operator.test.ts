/** The operator routes on two replicas, and changes of weir.yaml under load. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { removeFolder, throwawayFolder } from '../support/throwaway.ts';
import { until } from '../support/until.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(60_000);

interface ChannelAnswer {
  id: string;
  state: string;
  switch: { state: string; reason: string } | null;
  in_flight: number;
  weight: number;
  models: {
    id: string;
    state: string;
    reason: string | null;
    tried_again_at: string | null;
    last_failure: { class: string; message: string } | null;
  }[];
}

interface TokenUsage {
  prompt_tokens: number;
  completion_tokens: number;
}

let simulator: RunningSimulator;
let database: TestDatabase;
let folder: string;
let replicas: [RunningWeir, RunningWeir];

function fileOf(channels: object[]): string {
  return JSON.stringify({ channels, roles: { standard: 10_000_000 } });
}

const channel = (id: string, more: object = {}) => ({
  ...{ id, protocol: 'openai', base_url: simulator.openai_url, api_key: `sim-${id}` },
  ...{ models: { 'gpt-4o': 'physical', 'text-embedding-3-small': 'physical-e' } },
  ...more,
});
const usual = () => [channel('one'), channel('two')];

function rewrite(text: string): void {
  writeFileSync(join(folder, 'weir.yaml'), text);
}

beforeAll(async () => {
  simulator = await startSimulator();
  database = await createTestDatabase();
  folder = throwawayFolder('operator');
  rewrite(fileOf(usual()));
  const env = { DATABASE_URL: database.url, WEIR_CONFIG: join(folder, 'weir.yaml') };
  const first = await startWeir({ env });
  replicas = [first, await startWeir({ env })];
});
afterAll(async () => {
  for (const weir of replicas) await weir.stop();
  await simulator.stop();
  await database.drop();
  removeFolder(folder);
});

async function operate<Answer = ChannelAnswer>(
  method: string,
  path: string,
  body?: object,
  weir = replicas[0],
  token = weir.operator_token,
): Promise<{ status: number } & Answer> {
  const response = await fetch(`${weir.base_url}/v1/operator/channels${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { status: response.status, ...((await response.json()) as Answer) };
}

function chat(content = 'Hello', weir = replicas[0]): Promise<Response> {
  return fetch(`${weir.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${weir.api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content }] }),
  });
}

/** The price of gpt-4o that a client of this replica sees. */
async function priceOn(weir: RunningWeir): Promise<object> {
  const headers = { authorization: `Bearer ${weir.api_key}` };
  const response = await fetch(`${weir.base_url}/v1/models/gpt-4o`, { headers });
  expect(response.status).toBe(200);
  const { weir: said } = (await response.json()) as { weir: { pricing: object } };
  return said.pricing;
}

/** Nano-USD that all keys have spent. */
async function spent(): Promise<number> {
  const [row] = await database.sql<{ spent: number }[]>`
    select coalesce(sum(charged_nano_usd), 0)::int8 as spent from usage_line`;
  return row?.spent ?? Number.NaN;
}

const stateOn = async (weir: RunningWeir, id: string) =>
  (await operate('GET', `/${id}`, undefined, weir)).state;

/** A change must reach all replicas within a second. A busy machine gets more time. */
async function everywhere(id: string, state: string): Promise<void> {
  await until(`${id} is ${state} on both replicas`, async () => {
    const states = await Promise.all(replicas.map((weir) => stateOn(weir, id)));
    return states.every((current) => current === state);
  });
}

describe('the operator’s channels', () => {
  test('are listed with their health, and without their keys', async () => {
    const answer = await operate<{ data: ChannelAnswer[] }>('GET', '');
    expect(answer.data.map(({ id }) => id)).toEqual(['one', 'two']);
    expect(answer.data[0]).toMatchObject({
      ...{ object: 'channel', state: 'healthy', switch: null, in_flight: 0, running_tasks: 0 },
      models: [{ id: 'gpt-4o', upstream_model: 'physical', reason: null }, {}],
    });
    expect(JSON.stringify(answer)).not.toContain('sim-');
  });

  test('401: without an operator token', async () => {
    const { api_key, management_token } = replicas[0];
    for (const token of [api_key, management_token, 'op-nobody', '']) {
      for (const path of ['', '/one']) {
        expect((await operate('GET', path, undefined, replicas[0], token)).status).toBe(401);
      }
      const drain = await operate('POST', '/one/drain', {}, replicas[0], token);
      expect(drain.status).toBe(401);
    }
    expect(await stateOn(replicas[0], 'one')).toBe('healthy');
  });

  test('disabled: no replica sends requests to the channel until it is enabled', async () => {
    const reason = 'the account moves';
    expect(await operate('POST', '/one/disable', { reason })).toMatchObject({
      ...{ status: 200, state: 'disabled', switch: { state: 'disabled', reason } },
      models: [{ state: 'disabled', reason, tried_again_at: null }, {}],
    });
    await everywhere('one', 'disabled');
    const before = (await simulator.books()).calls.at(-1)?.id ?? '';
    for (const weir of replicas) {
      for (let call = 0; call < 5; call += 1) expect((await chat('Hi', weir)).status).toBe(200);
    }
    const { calls } = await simulator.books({ since: before });
    expect(new Set(calls.map(({ account }) => account))).toEqual(new Set(['two']));
    expect((await operate('POST', '/one/enable')).switch).toBeNull();
    await everywhere('one', 'degraded');
  });

  test('drained: the channel gets no new calls, and its running tasks end', async () => {
    await operate('POST', '/one/disable');
    await everywhere('one', 'disabled');
    const running = chat('Hi [[sim latency_ms=1500]]');
    await until('it runs', async () => (await operate('GET', '/two')).in_flight === 1);
    await operate('POST', '/one/enable');
    expect((await operate('POST', '/two/drain')).state).toBe('draining');
    expect((await running).status).toBe(200);
    await everywhere('two', 'disabled');
    expect((await chat()).status).toBe(200);
    await operate('POST', '/two/enable');
  });

  test('tested: the channel gets a minimal probe, and the response has its error message', async () => {
    expect(await operate<object>('POST', '/two/test', {})).toMatchObject({
      ...{ object: 'channel.test', ok: true, kind: 'call', model: 'gpt-4o' },
    });
    const model = 'text-embedding-3-small';
    expect(await operate<object>('POST', '/two/test', { model })).toMatchObject({
      ok: true,
      model,
    });
    await simulator.setAccount('two', { revoked: true });
    expect(await operate<object>('POST', '/two/test')).toMatchObject({
      ...{ status: 200, ok: false, failure: 'auth', fault: 'account' },
      hint: expect.stringContaining('api_key'),
    });
    await simulator.setAccount('two', { revoked: false });
  });

  test('P9: invalid credentials disable a channel on every replica, with a reason, until they work again', async () => {
    await simulator.setAccount('one', { revoked: true });
    await until('it was noticed', async () => {
      expect((await chat()).status).toBe(200);
      return (await stateOn(replicas[0], 'one')) === 'disabled';
    });
    await everywhere('one', 'disabled');
    const [model] = (await operate('GET', '/one')).models;
    expect(model).toMatchObject({
      reason: 'auth',
      last_failure: { class: 'auth', fault: 'account' },
    });
    expect(Date.parse(model?.tried_again_at ?? '')).toBeGreaterThan(Date.now());
    await simulator.setAccount('one', { revoked: false });
    expect(await operate<object>('POST', '/one/test')).toMatchObject({ ok: true });
    await until('both use it again', async () => {
      const seen = await Promise.all(
        replicas.map((weir) => operate('GET', '/one', undefined, weir)),
      );
      return seen.every(({ models: [first] }) => first?.state !== 'disabled');
    });
    await operate('POST', '/one/enable');
  });

  test('every replica soon sees that a channel is open, and that it is healthy again', async () => {
    await simulator.setAccount('one', { fail_rate: 1 });
    await until('its circuit opened', async () => {
      await chat();
      return (await operate('GET', '/one')).models[0]?.state === 'open';
    });
    await until('the other one knows', async () => {
      const { models } = await operate('GET', '/one', undefined, replicas[1]);
      return models[0]?.state === 'open';
    });
    await simulator.setAccount('one', { fail_rate: 0 });
    await operate('POST', '/one/test');
    await until('both let it in again', async () => {
      const seen = await Promise.all(
        replicas.map((weir) => operate('GET', '/one', undefined, weir)),
      );
      return seen.every(({ models: [first] }) => first?.state === 'degraded');
    });
  });

  test.each([
    ['GET', '/nobody', undefined, 404, 'id'],
    ['POST', '/nobody/test', {}, 404, 'id'],
    ['POST', '/one/test', { model: 'gpt-4o-mini' }, 400, 'model'],
    ['POST', '/one/disable', { reason: 7 }, 400, 'reason'],
    ['POST', '/one/drain', { whatever: 1 }, 400, 'whatever'],
  ] as const)('%s %s: refused by name', async (method, path, body, status, param) => {
    const answer = await operate<{ error: object }>(method, path, body);
    expect(answer).toMatchObject({ status, error: { param } });
  });
});

describe('a changed weir.yaml', () => {
  test('is applied under load without dropping a request', async () => {
    const statuses: number[] = [];
    let stopping = false;
    const client = async (weir: RunningWeir) => {
      while (!stopping) {
        const response = await chat('Hi [[sim latency_ms=100]]', weir);
        await response.text();
        statuses.push(response.status);
      }
    };
    const clients = [0, 1, 0, 1, 0, 1].map((at) => client(replicas[at] ?? replicas[0]));
    const versions = [
      [channel('one', { weight: 5 }), channel('three')],
      [channel('three', { api_key: 'sim-three-b' })],
      [channel('four', { models: { 'gpt-4o': 'another' } }), channel('three', { enabled: false })],
      usual(),
    ];
    for (const version of versions) {
      rewrite(fileOf(version));
      const names = version.map((each) => each.id).sort();
      await until('both have it', async () => {
        const lists = await Promise.all(
          replicas.map((weir) => operate<{ data: ChannelAnswer[] }>('GET', '', undefined, weir)),
        );
        return lists.every(
          ({ data }) => JSON.stringify(data.map(({ id }) => id).sort()) === JSON.stringify(names),
        );
      });
      const seen = statuses.length;
      await until('calls went on', () => statuses.length > seen + 12);
    }
    stopping = true;
    await Promise.all(clients);
    expect(statuses.length).toBeGreaterThan(48);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    const { calls } = await simulator.books();
    const accounts = new Set(calls.map(({ account }) => account));
    for (const id of ['one', 'three', 'three-b', 'four']) expect(accounts).toContain(id);
    expect(calls.filter(({ outcome }) => outcome === 'aborted')).toEqual([]);
  });

  test('changes models, prices and roles as well', async () => {
    const price = { input_usd_per_mtok: 7, output_usd_per_mtok: 9 };
    const models = [{ id: 'gpt-4o', price }];
    rewrite(JSON.stringify({ ...JSON.parse(fileOf(usual())), models }));
    await until('the price is public on both replicas', async () => {
      const prices = await Promise.all(replicas.map(priceOn));
      return prices.every((each) => Bun.deepEquals(each, price));
    });
    const before = await spent();
    const answer = (await (await chat()).json()) as { usage: TokenUsage };
    const { prompt_tokens, completion_tokens } = answer.usage;
    expect((await spent()) - before).toBe(prompt_tokens * 7_000 + completion_tokens * 9_000);
    // The limit is checked after the price, because a 429 shows no price.
    rewrite(JSON.stringify({ channels: usual(), models, roles: { standard: 2 } }));
    await until('the limit holds', async () => (await chat('Hi', replicas[1])).status === 429);
    rewrite(fileOf(usual()));
    await until('it is gone', async () => (await chat('Hi', replicas[1])).status === 200);
    expect(await priceOn(replicas[1])).not.toEqual(price);
  });

  test('with an error changes nothing, and logs the error', async () => {
    const valid = async () => {
      const text = await (await fetch(`${replicas[0].base_url}/metrics`)).text();
      return /^weir_configuration_valid (\d)/m.exec(text)?.[1];
    };
    rewrite('channels: [{ id: one, protocol: opena }]');
    await until('it is noticed', async () => (await valid()) === '0');
    // The log arrives later than the metric, because it passes a pipe.
    await until('it is said where', () => replicas[0].output().includes('weir.yaml:1'));
    expect((await chat()).status).toBe(200);
    expect((await operate<{ data: object[] }>('GET', '')).data).toHaveLength(2);
    rewrite(fileOf(usual()));
    await until('it is mended', async () => (await valid()) === '1');
  });
});
