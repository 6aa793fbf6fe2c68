import { expect, test } from 'bun:test';
import type { Route, TaskWork } from '../../../src/inference/tasks/deps.ts';
import { collectOutputs, recordOf } from '../../../src/inference/tasks/results.ts';
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

/** The start of a lossy WebP (RFC 9649). */
const WEBP = Buffer.from('RIFF\u0014\u0000\u0000\u0000WEBPVP8 \u0008\u0000\u0000\u0000', 'latin1');

function recordingStorage() {
  const files = new Map<string, [type: string, bytes: Buffer]>();
  const put = async (name: string, content: Blob | ReadableStream | Uint8Array, type: string) => {
    const bytes = await new Response(content as ReadableStream).arrayBuffer();
    files.set(name, [type, Buffer.from(bytes)]);
  };
  return { files, storage: { put } };
}

test.each([undefined, 'image/png', 'image/webp'])(
  'a WebP in an answer that names the type %p is stored as WebP',
  async (content_type) => {
    const { files, storage } = recordingStorage();
    const output = {
      ...{ kind: 'image' as const, base64: WEBP.toString('base64') },
      ...(content_type === undefined ? {} : { content_type }),
    };
    const { outputs } = await recordOf(storage, 'task_1', {
      type: 'produced',
      outputs: [output],
      usage: {},
    });
    expect(outputs[0]?.content_type).toBe('image/webp');
    expect(files).toEqual(new Map([['task_1/1.webp', ['image/webp', WEBP]]]));
  },
);

test.each(['application/octet-stream', '', 'image/webp', 'image/png'])(
  'a WebP whose server names the type %p is stored as WebP, with all its bytes',
  async (content_type) => {
    const { files, storage } = recordingStorage();
    const pieces = [WEBP, Buffer.from('one'), Buffer.from('two')];
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of pieces) controller.enqueue(new Uint8Array(piece));
        controller.close();
      },
    });
    const fetchResult = async () => ({ stream, content_type });
    const record = { outputs: [{ kind: 'image' as const, url: `${HOST}/a` }], usage: {} };
    const { signal } = new AbortController();
    await collectOutputs(
      { storage, fetchResult, signal },
      { id: 'task_1' } as TaskWork,
      record,
      undefined,
    );
    expect(files).toEqual(new Map([['task_1/1.webp', ['image/webp', Buffer.concat(pieces)]]]));
  },
);
