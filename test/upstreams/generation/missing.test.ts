/** The answers by which each provider says that it has no such job, as its documentation shows them. */
import { expect, test } from 'bun:test';
import type { GenerationProtocolName } from '../../../src/protocols/names.ts';
import { GENERATION_PROTOCOLS } from '../../../src/upstreams/generation/protocols.ts';

/** What a job needs so that its protocol polls the test's server. */
const JOBS: Partial<Record<GenerationProtocolName, { poll_url?: string; path?: string }>> = {
  fal: { poll_url: '/requests/1/status', path: '/requests/1' },
  kling: { path: '/v1/videos/text2video' },
};

const MISSING: readonly [GenerationProtocolName, status: number, body: unknown][] = [
  ['veo', 404, { error: { code: 404, message: 'Operation not found.', status: 'NOT_FOUND' } }],
  ['xai', 404, { code: 'not-found', error: 'The requested resource was not found.' }],
  ['bfl', 404, { detail: 'Task not found' }],
  ['bfl', 200, { id: '1', status: 'Task not found', result: null }],
  ['kling', 404, { code: 1203, message: 'the requested resource does not exist' }],
  ['runway', 404, { error: 'Not found' }],
  ['ark', 404, { error: { code: 'ResourceNotFound', message: 'The resource was not found.' } }],
  ['midjourney', 200, null],
  ['midjourney', 404, {}],
  ['suno', 404, { code: 'task_not_exist', message: 'task_not_exist', data: null }],
  ['suno', 400, { code: 'task_not_exist', message: 'task_not_exist', data: null }],
  ['fal', 404, { detail: 'Request not found' }],
  ['replicate', 404, { detail: 'The requested resource could not be found.' }],
];

async function poll(name: GenerationProtocolName, status: number, body: unknown) {
  const server = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1', fetch: () => Response.json(body, { status }) },
  });
  const target = {
    channel_id: 'test',
    base_url: server.url.origin,
    api_key: 'secret',
    timeout_ms: 10_000,
  };
  const call = { target, physical_model: 'model', signal: new AbortController().signal };
  const job = { id: 'job-1', ...JOBS[name] };
  try {
    return await GENERATION_PROTOCOLS[name].poll?.(call, job);
  } finally {
    await server.stop(true);
  }
}

test.each(MISSING)('%s: status %d, %j', async (name, status, body) => {
  expect(await poll(name, status, body)).toMatchObject({ type: 'missing' });
});

test('every protocol that polls has a row', () => {
  const polling = Object.values(GENERATION_PROTOCOLS).filter((each) => each.poll);
  expect(new Set(MISSING.map(([name]) => name))).toEqual(
    new Set(polling.map(({ name }) => name as GenerationProtocolName)),
  );
});
