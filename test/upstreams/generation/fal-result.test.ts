/**
 * A result of fal has the status that the model itself answered with (fal docs: Queue API). So an
 * error there ends the job, although the status of the job is COMPLETED.
 */
import { expect, test } from 'bun:test';
import { falProtocol } from '../../../src/upstreams/generation/fal.ts';

async function pollCompleted(status: number, body: object) {
  const server = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1' },
    fetch: ({ url }) =>
      url.endsWith('/status')
        ? Response.json({ status: 'COMPLETED' })
        : Response.json(body, { status }),
  });
  const base_url = server.url.origin;
  const target = { ...{ channel_id: 'test', base_url, api_key: 'secret', timeout_ms: 10_000 } };
  const call = { target, physical_model: 'model', signal: new AbortController().signal };
  try {
    return await falProtocol.poll?.(call, { id: '1', poll_url: '/r/1/status', path: '/r/1' });
  } finally {
    await server.stop(true);
  }
}

const ERROR = { detail: [{ loc: ['body'], msg: 'Internal error', type: 'internal_server_error' }] };

test.each([500, 502, 503, 504, 413])('a result with status %d ends the job', async (status) => {
  expect(await pollCompleted(status, ERROR)).toMatchObject({ type: 'failed', reason: 'upstream' });
});

// With 500: vercel/ai, packages/fal/src/fal-video-model.test.ts.
test.each([400, 500])('a result in progress with status %d is polled again', async (status) => {
  const body = { detail: 'Request is still in progress' };
  expect(await pollCompleted(status, body)).toMatchObject({ type: 'running' });
});

test('an error of the account says nothing about the job', async () => {
  const error: unknown = await pollCompleted(401, { detail: 'Cannot access' }).catch((e) => e);
  expect(error).toMatchObject({ fault: 'account' });
});
