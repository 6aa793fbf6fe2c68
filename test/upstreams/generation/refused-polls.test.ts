/**
 * A poll that the provider refuses for good ends the task. Otherwise Weir would poll until the deadline. A
 * refusal that says nothing about the job is polled again.
 */
import { describe, expect, test } from 'bun:test';
import type { GenerationProtocolName } from '../../../src/protocols/names.ts';
import { RetryableUpstreamError } from '../../../src/upstreams/contract.ts';
import { GENERATION_PROTOCOLS } from '../../../src/upstreams/generation/protocols.ts';

const POLLED = Object.entries(GENERATION_PROTOCOLS)
  .filter(([, { poll }]) => poll)
  .map(([name]) => name as GenerationProtocolName);

async function poll(name: GenerationProtocolName, status: number, body: unknown) {
  const server = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1', fetch: () => Response.json(body, { status }) },
  });
  const base_url = server.url.origin;
  const target = {
    ...{ channel_id: 'test', protocol: name, base_url, api_key: 'secret', timeout_ms: 10_000 },
  };
  const call = { target, physical_model: 'model', signal: new AbortController().signal };
  const job = { id: 'job-1', poll_url: '/r/1/status', path: name === 'kling' ? '/v1/v' : '/r/1' };
  try {
    const asked = GENERATION_PROTOCOLS[name].poll?.(call, name === 'bfl' ? { id: 'job-1' } : job);
    return await Promise.resolve(asked).catch((error: unknown) => error);
  } finally {
    await server.stop(true);
  }
}

/** Final refusals, each with its source. */
const FINAL: readonly [
  GenerationProtocolName,
  source: string,
  status: number,
  body: object,
  ends: object,
][] = [
  [
    ...(['xai', 'vercel/ai#17887: content moderation', 400] as const),
    {
      code: 'Client specified an invalid argument',
      error: 'Generated video rejected by content moderation.',
    },
    { type: 'failed', reason: 'moderation' },
  ],
  [
    ...(['xai', 'Wei-Shaw/sub2api#4546: each poll of the job', 400] as const),
    { error: { message: 'xAI upstream returned status 400', type: 'invalid_request_error' } },
    { type: 'failed', reason: 'input' },
  ],
  [
    ...(['kling', 'app.klingai.com: API documentation, Error codes', 200] as const),
    { code: 1301, message: 'the request triggered the content security policy', request_id: 'r' },
    { type: 'failed', reason: 'moderation' },
  ],
  [
    ...(['kling', 'app.klingai.com: API documentation, Error codes', 200] as const),
    { code: 1203, message: 'the requested resource does not exist', request_id: 'r' },
    { type: 'missing' },
  ],
  [
    ...(['kling', 'app.klingai.com: API documentation, Error codes', 400] as const),
    { code: 1201, message: 'invalid request parameters', request_id: 'r' },
    { type: 'failed', reason: 'input' },
  ],
  [
    ...(['suno', 'Suno-API/Suno-API: api.go, FetchByID', 400] as const),
    { code: 'invalid_request', message: 'task not exist', data: null },
    { type: 'missing' },
  ],
  [
    ...(['suno', 'QuantumNous/new-api: TaskError', 200] as const),
    { code: 'get_task_failed', message: 'record not found', data: null },
    { type: 'missing' },
  ],
];

test.each(FINAL)('%s (%s): status %i ends the task', async (name, _, status, body, ends) => {
  expect(await poll(name, status, body)).toMatchObject(ends);
});

describe.each(POLLED)('%s', (name) => {
  test.each([400, 405, 410, 413, 415, 422, 451])('a poll with status %i ends', async (status) => {
    expect(await poll(name, status, { message: 'No.' })).toMatchObject({ type: 'missing' });
    const refused = await poll(name, status, { message: 'Rejected by content moderation.' });
    expect(refused).toMatchObject({ type: 'failed', reason: 'moderation' });
  });

  test.each([401, 402, 403, 408, 409, 429, 500, 502, 503, 504])(
    'a poll with status %i is repeated',
    async (status) => {
      expect(await poll(name, status, { message: 'No.' })).toBeInstanceOf(RetryableUpstreamError);
    },
  );

  test('a poll of a job that has not ended is repeated', async () => {
    const error = await poll(name, 400, { message: 'Request is still in progress' });
    expect(error).toBeInstanceOf(RetryableUpstreamError);
  });
});
