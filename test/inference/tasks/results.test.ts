import { expect, test } from 'bun:test';
import type { Route, TaskWork } from '../../../src/inference/tasks/deps.ts';
import { collectOutputs } from '../../../src/inference/tasks/results.ts';
import { GENERATION_PROTOCOLS } from '../../../src/upstreams/generation/protocols.ts';

const HOST = 'https://generativelanguage.googleapis.com';

/** Collects one result of Veo and returns the headers with which its file was fetched. */
async function headersFor(url: string, needs_key = true): Promise<Record<string, string>> {
  const target = {
    channel_id: 'c',
    base_url: `${HOST}/v1beta`,
    api_key: 'a-secret',
    timeout_ms: 1,
  };
  const route = { protocol: GENERATION_PROTOCOLS.veo, target } as Route;
  const record = { outputs: [{ kind: 'video' as const, url, needs_key }], usage: {} };
  let sent: Record<string, string> = {};
  const parts = {
    storage: {
      put: async (_: string, bytes: Blob | ReadableStream | Uint8Array) => {
        await new Response(bytes as ReadableStream).arrayBuffer();
      },
    },
    fetchResult: async (_: string, { headers }: { headers: Record<string, string> }) => {
      sent = headers;
      return { stream: new Blob(['film']).stream(), content_type: 'video/mp4' };
    },
    signal: new AbortController().signal,
  };
  await collectOutputs(parts, { id: 'task_1' } as TaskWork, record, route);
  return sent;
}

test('the key is sent to the provider that made the result', async () => {
  const url = `${HOST}/v1beta/files/1:download?alt=media`;
  expect(await headersFor(url)).toEqual({ 'x-goog-api-key': 'a-secret' });
  expect(await headersFor(url, false)).toEqual({});
});

test.each([
  'https://storage.googleapis.com/films/1.mp4',
  'https://evil.example/1.mp4',
  'http://generativelanguage.googleapis.com/v1beta/files/1',
  'https://generativelanguage.googleapis.com.evil.example/1.mp4',
  'https://evil.googleapis.com/1.mp4',
])('the key is not sent to %s', async (url) => {
  expect(await headersFor(url)).toEqual({});
});
