/**
 * P5: no public response, successful or not, names an upstream. The tests search them for channel ids,
 * addresses, keys, physical models, and every id that the providers put into their answers.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { connectDatabase, type Database } from '../../db/client.ts';
import { builtInModels } from '../../src/catalogue/built-in.ts';
import { RANKED_SCENES } from '../../src/catalogue/ranking.ts';
import { CATEGORIES } from '../../src/catalogue/schema.ts';
import { demoInstallation } from '../../src/config/demo.ts';
import type { ChannelConfig } from '../../src/upstreams/contract.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { until } from '../support/until.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(120_000);

let simulator: RunningSimulator;
let weir: RunningWeir;
let channels: ChannelConfig[];
let database: Database;
let drop: () => Promise<void>;
/** Every response that a client received. */
const received: { request: string; text: string }[] = [];

const HIDDEN = { id: 'hidden-model', visibility: 'hidden' };
const SLASHED = 'some-org/some-model';
const DEFERRED = { id: 'deferred-model', visibility: 'deferred' };

beforeAll(async () => {
  simulator = await startSimulator();
  channels = demoInstallation(simulator.url).channels.map((channel) => ({
    ...channel,
    id: `canary-channel-${channel.protocol}`,
    api_key: `sim-canary-key-${channel.protocol}`,
  }));
  const secret = { category: 'chat', family: 'openai-chat' };
  const price = { input_usd_per_mtok: 1, output_usd_per_mtok: 1 };
  const models = [HIDDEN, DEFERRED, { id: SLASHED }].map((model) => ({
    ...{ ...model, ...secret, owned_by: 'some-org', price },
  }));
  const extra_models = models.map(({ id }) => [id, `canary-physical-${id}`]);
  const served = channels.map((channel) =>
    channel.protocol === 'openai'
      ? { ...channel, models: { ...channel.models, ...Object.fromEntries(extra_models) } }
      : channel,
  );
  const config = JSON.stringify({ channels: served, models, roles: { standard: 1_000_000 } });
  const fresh = await createTestDatabase();
  drop = fresh.drop;
  database = connectDatabase(fresh.url, { pool: 'single' });
  weir = await startWeir({ config, env: { DATABASE_URL: fresh.url } });
});
afterAll(async () => {
  await weir.stop();
  await simulator.stop();
  await database.close();
  await drop();
});

/** The providers' ids of the generations that they accepted. */
async function jobIds(): Promise<string[]> {
  const rows = await database.sql<{ id: string }[]>`
    select job->>'id' as id from task where job->>'id' is not null`;
  expect(rows.length).toBeGreaterThan(8);
  return rows.map(({ id }) => id);
}

async function send(method: string, path: string, body?: object | FormData, token = weir.api_key) {
  const isForm = body instanceof FormData;
  // If the upstream's sound breaks off, the response breaks off too.
  const response = await fetch(weir.base_url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      // The headers tell whose client it is. Each client requests only the paths of its vendor.
      ...(path.startsWith('/v1beta') ? { 'x-goog-api-key': token } : {}),
      ...(path.startsWith('/v1/messages') ? { 'anthropic-version': '2023-06-01' } : {}),
      ...(isForm ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  }).catch(() => undefined);
  if (!response) return { status: 0, text: '' };
  const text = await response.text().catch(() => '');
  const headers = [...response.headers].map((header) => header.join(': ')).join('\n');
  received.push({ request: `${method} ${path} ${response.status}`, text: `${headers}\n${text}` });
  return { status: response.status, text };
}

/** These answers make Weir poll an image task for a long time. The tests of tasks cover them. */
const ODD_ANSWERS = [
  ...['[[sim status=404]]', '[[sim status=500]]', '[[sim malformed=1]]'],
  ...['[[sim truncate_after=2]]', '[[sim lose=1]]'],
];
const DIRECTIVES = [
  ...['', '[[sim status=400]]', '[[sim status=401]]', '[[sim status=429]]', ...ODD_ANSWERS],
];

const turn = (content: string) => [{ role: 'user', content }];

function soundOf(model: string, prompt: string): FormData {
  const form = new FormData();
  form.set('file', new File([new Uint8Array(32_000)], 'speech.wav', { type: 'audio/wav' }));
  form.set('model', model);
  form.set('prompt', prompt);
  return form;
}

/** A request to a model on each route, by the model's category. */
function requestsOf(
  id: string,
  category: string,
  text: string,
): [path: string, body: object | FormData][] {
  const words = text === '' ? 'Hello' : `Hello ${text}`;
  switch (category) {
    case 'chat':
      return [
        ['/v1/chat/completions', { model: id, messages: turn(words) }],
        ['/v1/chat/completions', { model: id, messages: turn(words), stream: true }],
        ['/v1/messages', { model: id, max_tokens: 20, messages: turn(words) }],
        ['/v1/messages', { model: id, max_tokens: 20, messages: turn(words), stream: true }],
        ['/v1/responses', { model: id, input: words }],
        [`/v1beta/models/${id}:generateContent`, { contents: [{ parts: [{ text: words }] }] }],
      ];
    case 'embedding':
      return [['/v1/embeddings', { model: id, input: words }]];
    case 'tts':
      return [
        ['/v1/audio/speech', { model: id, voice: 'Kore', input: words, response_format: 'wav' }],
      ];
    case 'stt':
      return ['/v1/audio/translations', '/v1/audio/transcriptions'].map((path) => [
        path,
        soundOf(id, words),
      ]);
    case 'rerank':
      return [['/v1/rerank', { model: id, query: words, documents: ['a'] }]];
    case 'translation':
      return [['/v1/translations', { model: id, text: words, target_lang: 'DE' }]];
    case 'image':
      return [['/v1/images/generations', { model: id, prompt: words }]];
    default:
      throw new Error(`no request for ${category}`);
  }
}

/** For failures, one model of each family is enough. */
const ONE_OF_EACH = [...new Map(builtInModels().map((each) => [each.family, each])).values()];
const BY_TASK: Record<string, string> = {
  ...{ video: 'videos', music: 'music', '3d': '3d', audio: 'audio' },
};
const PICTURE = 'https://example.com/a.png';
const FILM = 'https://example.com/a.mp4';
/** The parameters that a model needs in addition to its prompt. */
const NEEDED: Record<string, object> = {
  'kling-3.0-motion-control': { image_url: PICTURE, video_url: FILM },
  ...{ 'runway-aleph-2': { video_url: FILM }, 'topaz-video-upscale': { video_url: FILM } },
  suno_lyrics: { action: 'LYRICS' },
};

describe('the responses to clients', () => {
  test('from the catalogue routes', async () => {
    const queries = [
      ...CATEGORIES.map((each) => `?category=${each}`),
      ...RANKED_SCENES.map((each) => `?recommended_for=${each}`),
      ...['', '?category=canary', '?recommended_for=chat'],
    ];
    for (const query of queries) await send('GET', `/v1/models${query}`);
    for (const { id, aliases = [] } of builtInModels()) {
      for (const name of [id, ...aliases, `${id}x`]) await send('GET', `/v1/models/${name}`);
    }
    expect(received.filter(({ request }) => request.endsWith(' 200')).length).toBeGreaterThan(80);
  });

  test('a hidden, a deferred and a misspelled model get the same response', async () => {
    const body = (model: string) => ({ model, messages: turn('Hello') });
    const answers = [HIDDEN.id, DEFERRED.id, 'misspelled-model'].map(async (name) => {
      const detail = await send('GET', `/v1/models/${name}`);
      const call = await send('POST', '/v1/chat/completions', body(name));
      return [detail, call].map(({ status, text }) => ({
        status,
        text: text.replaceAll(name, 'NAME').replace(/"(did_you_mean|suggestions)":.*?[\]"],/g, ''),
      }));
    });
    const [hidden, deferred, misspelled] = await Promise.all(answers);
    expect(hidden).toEqual(misspelled);
    expect(deferred).toEqual(misspelled);
    expect(misspelled?.map(({ status }) => status)).toEqual([404, 400]);
    const listed = (await send('GET', '/v1/models')).text;
    expect(listed).not.toMatch(/hidden-model|deferred-model/);
  });

  test('a model with a slash in its id is listed, described and called like any other', async () => {
    expect((await send('GET', '/v1/models')).text).toContain(`"${SLASHED}"`);
    for (const name of [SLASHED, encodeURIComponent(SLASHED)]) {
      const { status, text } = await send('GET', `/v1/models/${name}`);
      expect({ status, id: (JSON.parse(text) as { id: string }).id }).toEqual({
        ...{ status: 200, id: SLASHED },
      });
    }
    for (const [path, body] of requestsOf(SLASHED, 'chat', '')) {
      expect({ path, ...(await send('POST', path, body)) }).toMatchObject({ status: 200 });
    }
  });

  const waited = ONE_OF_EACH.filter(({ category }) => !(category in BY_TASK));
  test.each(waited.map(({ id, category }) => [id, category]))('from %s', async (id, category) => {
    const serving = channels.find(({ models }) => Object.hasOwn(models, id))?.id;
    const scripts =
      category === 'image' ? DIRECTIVES.filter((each) => !ODD_ANSWERS.includes(each)) : DIRECTIVES;
    const before = (await simulator.books()).calls.length;
    for (const script of scripts) {
      for (const [path, body] of requestsOf(id, category, script)) {
        // The channels are reset, so that each failure comes from the provider.
        await fetch(`${weir.base_url}/v1/operator/channels/${serving}/enable`, {
          ...{ method: 'POST', headers: { authorization: `Bearer ${weir.operator_token}` } },
        });
        await send('POST', path, body);
      }
    }
    await until('its provider met each of them', async () => {
      const { calls } = await simulator.books();
      return calls.length - before >= scripts.length;
    });
  });

  const tasks = ONE_OF_EACH.filter(({ category }) => category in BY_TASK);
  test.concurrent.each(tasks.map(({ id, category }) => [id, category] as const))(
    'from tasks of %s',
    async (id, category) => {
      const end = async (script: string) => {
        const body = { model: id, prompt: `Hello ${script}`, ...NEEDED[id] };
        const { text } = await send('POST', `/v1/${BY_TASK[category]}/generations`, body);
        let task = JSON.parse(text) as { id: string; poll_url: string; status: string };
        const events = send('GET', `/v1/tasks/${task.id}/events`);
        while (task.status === 'pending' || task.status === 'processing') {
          await Bun.sleep(300);
          task = JSON.parse((await send('GET', task.poll_url)).text) as typeof task;
        }
        await events;
        return task.status;
      };
      const scripts = ['[[sim task_ms=10]]', '[[sim task_ms=10 fail=upstream]]'];
      // An upscaler gets no prompt, so no directive can reach the simulator.
      const second = id.includes('upscale') ? 'completed' : 'failed';
      expect(await Promise.all(scripts.map(end))).toEqual(['completed', second]);
    },
  );

  test('from the management routes and all others', async () => {
    for (const path of [
      '/healthz',
      '/readyz',
      '/metrics',
      '/v1/nothing',
      '/v1/operator/channels',
    ]) {
      await send('GET', path);
    }
    for (const path of ['balance', 'api-keys', 'webhook-deliveries']) {
      await send('GET', `/v1/management/${path}`, undefined, weir.management_token);
    }
  });

  test('P5: names no channel, address, key, physical model or id of a provider', async () => {
    const { calls } = await simulator.books();
    expect(calls.length).toBeGreaterThan(200);
    const publicNames = new Set(
      builtInModels().flatMap(({ id, aliases = [] }) => [id, ...aliases]),
    );
    const physical = channels.flatMap(({ models }) => Object.values(models));
    const secrets = [
      ...channels.flatMap(({ id, api_key, base_url }) => [id, api_key, base_url]),
      ...physical.filter((name) => !publicNames.has(name)),
      ...calls.map(({ id }) => id),
      ...(await jobIds()),
      ...['canary', new URL(simulator.url).host, '-sim"'],
    ];
    const found = received.flatMap(({ request, text }) =>
      secrets.filter((secret) => text.includes(secret)).map((secret) => `${request}: ${secret}`),
    );
    expect(found).toEqual([]);
    expect(received.length).toBeGreaterThan(500);
  });
});
