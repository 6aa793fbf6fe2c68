import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import type { TaskView } from '../../src/inference/tasks/port.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { errorOf } from '../support/envelope.ts';
import { FakeTasks } from '../support/fake-tasks.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());
beforeEach(() => {
  app.tasks = new FakeTasks();
  app.files.clear();
});

const IMAGES = '/v1/images/generations';
const VIDEOS = '/v1/videos/generations';
const MUSIC = '/v1/music/generations';
const ROUTES = [IMAGES, VIDEOS, MUSIC];

async function created(path: string, body: object, headers?: Record<string, string>) {
  const response = await app.post(path, { prompt: 'a lighthouse', ...body }, headers);
  expect(response.status).toBe(200);
  return { response, body: (await response.json()) as Record<string, unknown> };
}

const lastCreate = () => app.tasks.creates.at(-1);

describe('POST /v1/images/generations', () => {
  test('200: inline, by URL', async () => {
    app.tasks.answer = (request) =>
      app.tasks.view(request, {
        status: 'completed',
        outputs: [
          { kind: 'image', file: 'a.png', revised_prompt: 'a tall lighthouse' },
          { kind: 'image', file: 'b.png' },
        ],
      });
    const { body, response } = await created(IMAGES, { model: 'dall-e-3' });
    expect(body).toEqual({
      created: 1_795_000_000,
      data: [
        {
          url: `${app.base_url}/v1/files/a.png?signature=s`,
          revised_prompt: 'a tall lighthouse',
        },
        { url: `${app.base_url}/v1/files/b.png?signature=s` },
      ],
    });
    expect(response.headers.get('x-weir-billing-transaction-id')).toBe('txn_1');
    expect(lastCreate()).toMatchObject({ wait: true, route: IMAGES });
  });

  test('200: inline, in Base64', async () => {
    app.files.set('image-1', 'picture');
    const { body } = await created(IMAGES, { model: 'dall-e-3', response_format: 'b64_json' });
    expect(body['data']).toEqual([{ b64_json: btoa('picture') }]);
  });

  test('500: a missing file is not replaced by a URL', async () => {
    const response = await app.post(IMAGES, { prompt: 'x', response_format: 'b64_json' });
    const error = await errorOf(response, 500);
    expect(error.code).toBe('internal_error');
    // The image is charged, so the client is told its task.
    expect(error.hint).toMatch(/^Send GET \/v1\/tasks\/\S+ for the URL/);
  });

  test('200: with async, a task', async () => {
    const { body, response } = await created(IMAGES, { model: 'gpt-image-1', async: true });
    const { task_id } = body;
    expect(task_id).toBeString();
    expect(body).toEqual({
      id: task_id,
      task_id,
      poll_url: `/v1/tasks/${task_id}`,
      status: 'pending',
      created: 1_795_000_000,
      model: 'gpt-image-1',
      data: [],
    });
    expect(response.headers.get('retry-after')).toBe('3');
    expect(lastCreate()?.wait).toBe(false);
  });

  test.each([{}, { async: false }, { async: true }])(
    '200: a task model returns a task for any value of async: %j',
    async (mode) => {
      const { body } = await created(IMAGES, { model: 'midjourney', ...mode });
      expect(body['status']).toBe('pending');
      expect(lastCreate()?.wait).toBe(false);
    },
  );

  test('200: without model, the default of the catalogue', async () => {
    await created(IMAGES, {});
    expect(lastCreate()?.model.id).toBe('flux-1.1-pro');
  });

  test('200: OpenAI’s SDK reads both forms of the response', async () => {
    app.files.set('image-1', 'picture');
    const client = new OpenAI({
      apiKey: app.credentials.api_key,
      baseURL: `${app.base_url}/v1`,
      maxRetries: 0,
    });
    const body = { model: 'gpt-image-1', prompt: 'x', n: 1 } as const;
    const inline = await client.images.generate({ ...body, response_format: 'b64_json' });
    expect(inline.data?.[0]?.b64_json).toBe(btoa('picture'));
    const linked = await client.images.generate({ ...body, response_format: 'url' });
    expect(linked.data?.[0]?.url).toStartWith(app.base_url);
  });

  test('413: a body above the limit', async () => {
    const image = 'A'.repeat(33 * 1024 * 1024);
    const error = await errorOf(await app.post(IMAGES, { prompt: 'x', image }), 413);
    expect(error.code).toBe('payload_too_large');
  });
});

describe('POST /v1/videos/generations', () => {
  test('200: a task', async () => {
    const { body } = await created(VIDEOS, { model: 'veo-3.1' });
    expect(body).toMatchObject({
      id: body['task_id'],
      poll_url: `/v1/tasks/${body['task_id']}`,
      status: 'pending',
      model: 'veo-3.1',
      created: 1_795_000_000,
    });
  });

  test('200: a task that is already completed has its result at once', async () => {
    app.tasks.answer = (request) => app.tasks.view(request, { status: 'completed' });
    const { body } = await created(VIDEOS, {});
    expect(body).toMatchObject({
      status: 'completed',
      billing_transaction_id: 'txn_1',
      video_url: `${app.base_url}/v1/files/video-1?signature=s`,
    });
  });

  test('413: an inline image of more than 20 MB', async () => {
    const image = `data:image/png;base64,${'A'.repeat(28 * 1024 * 1024)}`;
    const error = await errorOf(await app.post(VIDEOS, { prompt: 'x', image }), 413);
    expect(error).toMatchObject({ code: 'payload_too_large', param: 'image' });
  });
});

describe('POST /v1/music/generations', () => {
  test('200: a task, polled on the music route', async () => {
    const { body } = await created(MUSIC, {});
    expect(body).toMatchObject({
      id: body['task_id'],
      poll_url: `/v1/music/generations/${body['task_id']}`,
      status: 'pending',
      model: 'suno_music',
      created: 1_795_000_000,
    });
  });
});

describe('every create', () => {
  test.each(ROUTES)('401 without a key: POST %s', async (path) => {
    await errorOf(await fetch(app.base_url + path, { method: 'POST', body: '{}' }), 401);
  });

  test.each(ROUTES)('400 without a prompt: POST %s', async (path) => {
    expect((await errorOf(await app.post(path, {}), 400)).param).toBe('prompt');
    expect(app.tasks.creates).toEqual([]);
  });

  test.each(ROUTES)('400 for a model that does not exist: POST %s', async (path) => {
    const error = await errorOf(await app.post(path, { model: 'nope', prompt: 'x' }), 400);
    expect(error).toMatchObject({ code: 'model_not_found', param: 'model' });
  });

  test('400 for a model of another route, with the name of that route', async () => {
    for (const [path, model, proper] of [
      [IMAGES, 'veo-3.1', VIDEOS],
      [VIDEOS, 'suno_music', MUSIC],
      [MUSIC, 'gpt-4o', '/v1/chat/completions or /v1/messages or'],
      ['/v1/chat/completions', 'dall-e-3', IMAGES],
    ] as const) {
      const body = { model, prompt: 'x', messages: [{ role: 'user', content: 'x' }] };
      const error = await errorOf(await app.post(path, body), 400);
      expect(error).toMatchObject({ param: 'model' });
      expect(error.hint).toStartWith(`Use ${proper}`);
      expect(error.message).toEndWith(`on ${path}.`);
    }
  });

  test('P13: a misspelled model suggests models of the same scene', async () => {
    const error = await errorOf(await app.post(VIDEOS, { model: 'veo-3.2', prompt: 'x' }), 400);
    expect(error.did_you_mean).toBe('veo-3.1');
    const names = error.suggestions?.map(({ id }) => id) ?? [];
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) {
      expect((await app.post(VIDEOS, { model: name, prompt: 'x' })).status).toBeLessThan(500);
    }
  });

  test.each(ROUTES)(
    'passes Idempotency-Key on, with the hash of the body: POST %s',
    async (path) => {
      const headers = { 'idempotency-key': 'order-1' };
      await created(path, {}, headers);
      await created(path, {}, headers);
      await created(path, { user: 'me' }, headers);
      const [first, again, other] = app.tasks.creates;
      expect(first).toMatchObject({ idempotency_key: 'order-1', route: path });
      expect(again?.body_hash).toBe(first?.body_hash ?? '');
      expect(other?.body_hash).not.toBe(first?.body_hash);
    },
  );

  test.each(['', 'with space', 'x'.repeat(256)])('400 for the Idempotency-Key %j', async (key) => {
    const body = { prompt: 'x' };
    const response = await app.post(IMAGES, body, { 'idempotency-key': key });
    expect((await errorOf(response, 400)).param).toBe('Idempotency-Key');
  });

  test.each(ROUTES)('passes webhook_url on: POST %s', async (path) => {
    await created(path, { webhook_url: 'https://example.com/hook?a=1' });
    expect(lastCreate()?.webhook_url).toBe('https://example.com/hook?a=1');
  });

  test.each([
    ...['', 'x', 'ftp://example.com', 'file:///etc/passwd', 'https://u:p@example.com', 7, {}],
    ...['http://localhost/x', 'https://127.0.0.1:1/x', 'http://169.254.169.254/x', 'https://[::1]'],
  ])('400 for the webhook_url %j', async (webhook_url) => {
    const error = await errorOf(await app.post(IMAGES, { prompt: 'x', webhook_url }), 400);
    expect(error.param).toBe('webhook_url');
  });

  test('405: for a method other than POST', async () => {
    for (const path of ROUTES) await errorOf(await app.fetch(path), 405);
  });
});

describe('the status of a task', () => {
  const ASK = { request_id: '00000000-0000-0000-0000-00000000000' };
  const ALIASES: Record<TaskView['scene'], ((id: string) => string)[]> = {
    image: [(id) => `/v1/tasks/${id}`, (id) => `${IMAGES}/${id}`, (id) => `/v1/images/${id}`],
    video: [(id) => `/v1/tasks/${id}`],
    music: [(id) => `${MUSIC}/${id}`, (id) => `/v1/tasks/${id}`],
    '3d': [(id) => `/v1/tasks/${id}`],
    audio: [(id) => `/v1/tasks/${id}`],
  };
  const paths = Object.values(ALIASES).flat();

  let names = 0;
  function keep(scene: TaskView['scene'], more: Partial<TaskView>, organization?: string) {
    names += 1;
    const model = { scene, id: `some-${scene}` } as Parameters<FakeTasks['view']>[0]['model'];
    const view = app.tasks.view({ model, request_id: `${ASK.request_id}${names}` }, more);
    app.tasks.keep(view, organization ?? app.organization_id);
    return view;
  }

  async function read(path: string) {
    const response = await app.fetch(path);
    expect(response.status).toBe(200);
    return { response, body: (await response.json()) as Record<string, unknown> };
  }

  test.each(['pending', 'processing'] as const)(
    '200: %s, and when to come back',
    async (status) => {
      const { id } = keep('image', { status, retry_after_s: 4.2 });
      for (const path of ALIASES.image) {
        const { response, body } = await read(path(id));
        expect(response.headers.get('retry-after')).toBe('5');
        expect(body).toMatchObject({ id, task_id: id, status, data: [] });
      }
    },
  );

  test('P11: 200: every path returns the same final record and billing header', async () => {
    for (const scene of ['image', 'video', 'music'] as const) {
      const { id } = keep(scene, { status: 'completed' });
      const answers = await Promise.all(ALIASES[scene].map((path) => read(path(id))));
      for (const { body, response } of answers) {
        expect(body).toEqual(answers[0]?.body ?? {});
        expect(response.headers.get('x-weir-billing-transaction-id')).toBe('txn_1');
        expect(response.headers.has('retry-after')).toBe(false);
      }
    }
  });

  test('200: poll_url works without changes', async () => {
    for (const scene of ['image', 'video', 'music'] as const) {
      const { id } = keep(scene, {});
      const first = await read(ALIASES[scene][0]?.(id) ?? '');
      const { body } = await read(String(first.body['poll_url']));
      expect(body).toEqual(first.body);
    }
  });

  test('200: a completed image has URLs only, and its revised prompt', async () => {
    const outputs = [{ kind: 'image', file: 'x.png', revised_prompt: 'better' }] as const;
    const { id } = keep('image', { status: 'completed', outputs });
    expect((await read(`/v1/tasks/${id}`)).body['data']).toEqual([
      { url: `${app.base_url}/v1/files/x.png?signature=s`, revised_prompt: 'better' },
    ]);
  });

  test('200: one completed video, and several', async () => {
    const one = { kind: 'video', file: 'v.mp4', duration: 8, width: 1280, height: 720 } as const;
    const url = `${app.base_url}/v1/files/v.mp4?signature=s`;
    const video = { url, duration: 8, width: 1280, height: 720 };
    const single = keep('video', { status: 'completed', outputs: [one] });
    const { body } = await read(`/v1/tasks/${single.id}`);
    expect(body).toMatchObject({ video_url: url, video, data: [{ url }] });
    expect(body).not.toHaveProperty('videos');
    const several = keep('video', { status: 'completed', outputs: [one, one] });
    expect((await read(`/v1/tasks/${several.id}`)).body).toMatchObject({ videos: [video, video] });
  });

  test('200: completed songs and lyrics', async () => {
    const outputs = [
      { kind: 'audio', file: 's.mp3', title: 'One', duration: 120, clip_id: 'clip_1' },
      { kind: 'text', text: 'La la', title: 'Two' },
    ] as const;
    const { id } = keep('music', { status: 'completed', outputs });
    expect((await read(`${MUSIC}/${id}`)).body['data']).toEqual([
      {
        id: 'clip_1',
        type: 'audio',
        title: 'One',
        url: `${app.base_url}/v1/files/s.mp3?signature=s`,
        duration: 120,
      },
      { type: 'lyrics', title: 'Two', text: 'La la' },
    ]);
  });

  test('200: only a failed task has an error', async () => {
    const error = { code: 'content_policy_violation', message: 'The content was refused.' };
    const image = keep('image', { status: 'failed', error });
    expect((await read(`/v1/tasks/${image.id}`)).body['error']).toBe(error.message);
    const video = keep('video', { status: 'failed', error });
    expect((await read(`/v1/tasks/${video.id}`)).body['error']).toEqual(error);
    const { id } = keep('video', {});
    expect((await read(`/v1/tasks/${id}`)).body).not.toHaveProperty('error');
  });

  test('P6: 404: another organization’s task gives the same response as a missing one', async () => {
    const strangers = keep('image', {}, '00000000-0000-0000-0000-000000000000');
    const bodies = [];
    for (const path of paths) {
      for (const id of [strangers.id, 'task_nope', 'x'.repeat(500), '%00', '..%2f..']) {
        const error = await errorOf(await app.fetch(path(id)), 404);
        expect(error.code).toBe('async_task_not_found');
        bodies.push(JSON.stringify({ ...error, request_id: undefined }));
      }
    }
    expect(new Set(bodies).size).toBe(1);
    expect(bodies[0]).toContain('Task not found or no longer available');
  });

  test('404: the image path does not return songs', async () => {
    const { id } = keep('music', {});
    for (const path of [`${IMAGES}/${id}`, `/v1/images/${id}`]) {
      expect((await errorOf(await app.fetch(path), 404)).code).toBe('async_task_not_found');
    }
  });

  test('401: without a key, before the task is looked up', async () => {
    const { id } = keep('image', {});
    for (const path of paths) await errorOf(await fetch(app.base_url + path(id)), 401);
  });
});
