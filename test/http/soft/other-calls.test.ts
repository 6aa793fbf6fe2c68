/** Soft budgets and limits of calls that are not chat: speech, transcripts, images and tasks. */
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(60_000);

let weir: RunningWeir;
beforeAll(async () => {
  weir = await startWeir();
});
afterAll(() => weir.stop());

const send = (token: string, method: string, path: string, body?: object) =>
  fetch(weir.base_url + path, {
    ...{
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
async function manage<Answer>(method: string, path: string, body?: object): Promise<Answer> {
  const response = await send(weir.management_token, method, `/v1/management${path}`, body);
  if (!response.ok) throw new Error(await response.text());
  return response.json() as never;
}

let key = { id: '', key: '' };
beforeEach(async () => {
  key = await manage('POST', '/api-keys', { name: 'soft' });
});
const post = (path: string, body: object) => send(key.key, 'POST', path, body);
const softOf = ({ headers }: Response) => ({
  warning: headers.get('x-weir-warning'),
  from: headers.get('x-weir-moved-from'),
  to: headers.get('x-weir-moved-to'),
});
const budget = (when_reached: unknown) =>
  manage<{ id: string }>('POST', '/budgets', {
    ...{ period: 'day', api_key_id: key.id, limit_amount: 0, when_reached },
  });
const limit = (limits: object[]) => manage('PATCH', `/api-keys/${key.id}`, { limits });
const calls = async () =>
  (await manage<{ data: object[] }>('GET', `/requests?api_key_id=${key.id}`)).data;

const IMAGE = { prompt: 'A lighthouse [[sim task_ms=50]]' };

describe('a budget that is reached', () => {
  test('warns of direct calls and tasks, which are charged all the same', async () => {
    await budget('warn');
    for (const [path, body] of [
      ['/v1/embeddings', { model: 'text-embedding-3-large', input: 'hi' }],
      ['/v1/audio/speech', { model: 'tts-1', input: 'hi', voice: 'alloy' }],
      ['/v1/rerank', { model: 'rerank-v3.5', query: 'a', documents: ['a', 'b'] }],
      ['/v1/images/generations', { model: 'gpt-image-1', ...IMAGE }],
      ['/v1/videos/generations', { model: 'veo-3.1', ...IMAGE }],
    ] as const) {
      const answer = await post(path, body);
      expect([path, answer.status]).toEqual([path, 200]);
      expect(softOf(answer)).toEqual({
        warning: expect.stringContaining('budget_reached'),
        ...{ from: null, to: null },
      });
      await answer.bytes();
    }
    // The video still runs.
    const recorded = await calls();
    expect(recorded.length).toBeGreaterThanOrEqual(4);
    for (const each of recorded)
      expect(each).toMatchObject({ warnings: [{ type: 'budget', period: 'day' }] });
  });

  test('moves speech, images and videos to the named model', async () => {
    for (const [path, body, to] of [
      ['/v1/audio/speech', { model: 'tts-1-hd', input: 'hi', voice: 'alloy' }, 'tts-1'],
      ['/v1/images/generations', { model: 'gpt-image-1', ...IMAGE }, 'gpt-image-2'],
      ['/v1/videos/generations', { model: 'veo-3.1', ...IMAGE }, 'veo-3.1-fast'],
    ] as const) {
      const { id } = await budget({ move_to: to });
      const answer = await post(path, body);
      expect([path, answer.status]).toEqual([path, 200]);
      expect(softOf(answer)).toEqual({
        ...{ warning: expect.stringContaining('budget_reached'), from: body.model, to },
      });
      await answer.bytes();
      await manage('DELETE', `/budgets/${id}`);
      // A call of another kind stays.
      const other = await budget({ move_to: 'gpt-4o-mini' });
      expect(softOf(await post(path, body)).warning).toContain('not_moved="not_able"');
      await manage('DELETE', `/budgets/${other.id}`);
    }
  });

  test('never moves an embedding', async () => {
    await budget({ move_to: 'text-embedding-3-small' });
    const answer = await post('/v1/embeddings', { model: 'text-embedding-3-large', input: 'hi' });
    expect(softOf(answer)).toMatchObject({
      ...{ warning: expect.stringContaining('not_moved="not_able"'), to: null },
    });
    const limits = [
      {
        ...{ model: 'text-embedding-3-large', requests_per_minute: 1 },
        when_reached: { move_to: 'text-embedding-3-small' },
      },
    ];
    await expect(limit(limits)).rejects.toThrow('limits.0.when_reached.move_to');
  });

  test('402: a cap of the key refuses the task that moved', async () => {
    await budget({ move_to: 'veo-3.1-fast' });
    await manage('PATCH', `/api-keys/${key.id}`, { limitAmount: 0.001 });
    const refused = await post('/v1/videos/generations', { model: 'veo-3.1', ...IMAGE });
    expect(refused.status).toBe(402);
    expect(softOf(refused).to).toBe('veo-3.1-fast');
  });
});

describe('a limit that is reached', () => {
  test('moves new tasks and speech', async () => {
    await limit([
      { model: 'veo-3.1', requests_per_minute: 1, when_reached: { move_to: 'veo-3.1-fast' } },
      { model: 'tts-1-hd', requests_per_minute: 1, when_reached: { move_to: 'tts-1' } },
    ]);
    for (const [path, body, to] of [
      ['/v1/videos/generations', { model: 'veo-3.1', ...IMAGE }, 'veo-3.1-fast'],
      ['/v1/audio/speech', { model: 'tts-1-hd', input: 'hi', voice: 'alloy' }, 'tts-1'],
    ] as const) {
      expect(softOf(await post(path, body)).warning).toBeNull();
      const moved = await post(path, body);
      expect(moved.status).toBe(200);
      expect(softOf(moved)).toMatchObject({ from: body.model, to });
    }
    expect(await calls()).toContainEqual(
      expect.objectContaining({ logical_model: 'tts-1', moved_from: 'tts-1-hd' }),
    );
  });

  test('warns of new tasks', async () => {
    await limit([{ requests_per_minute: 1, when_reached: 'warn' }]);
    const video = () => post('/v1/videos/generations', { model: 'veo-3.1', ...IMAGE });
    expect(softOf(await video()).warning).toBeNull();
    expect(softOf(await video()).warning).toContain('limit="requests_per_minute"');
  });
});
