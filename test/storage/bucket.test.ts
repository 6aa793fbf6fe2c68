/** Results in a bucket, against a server that speaks S3. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import S3rver from 's3rver';
import { BucketStorage } from '../../src/storage/bucket-storage.ts';
import { freePort } from '../support/ports.ts';
import { removeFolder, throwawayFolder } from '../support/throwaway.ts';

setDefaultTimeout(60_000);

const KEY = 'S3RVER';
const NAME = 'weir_0123456789/1.png';
const folder = throwawayFolder('s3');
let server: S3rver;
let bucket: BucketStorage;
let endpoint: string;

const openBucket = (options: Partial<ConstructorParameters<typeof BucketStorage>[0]> = {}) =>
  new BucketStorage({
    bucket: 'results',
    endpoint,
    region: 'us-east-1',
    access_key_id: KEY,
    secret_access_key: KEY,
    ...options,
  });

beforeAll(async () => {
  const port = await freePort();
  server = new S3rver({
    port,
    address: '127.0.0.1',
    directory: folder,
    silent: true,
    configureBuckets: [{ name: 'results', configs: [] }],
  });
  await server.run();
  endpoint = `http://127.0.0.1:${port}`;
  bucket = openBucket();
});
afterAll(async () => {
  await server.close();
  removeFolder(folder);
});

describe('files in a bucket', () => {
  test('are returned as stored, whole or in part', async () => {
    await bucket.put(NAME, new TextEncoder().encode('a picture'), 'image/png');
    const file = await bucket.open(NAME);
    expect(file).toMatchObject({ size_bytes: 9, content_type: 'image/png' });
    expect(await new Response(file?.stream()).text()).toBe('a picture');
    expect(await new Response(file?.stream(2, 5)).text()).toBe('pic');
  });

  test('may be longer than one part of an upload', async () => {
    const piece = new Uint8Array(1024 * 1024).fill(7);
    let remaining = 20;
    const film = new ReadableStream({
      pull(controller) {
        if (remaining-- > 0) controller.enqueue(piece);
        else controller.close();
      },
    });
    await bucket.put('weir_film/1.mp4', film, 'video/mp4');
    const file = await bucket.open('weir_film/1.mp4');
    expect(file?.size_bytes).toBe(20 * piece.length);
    expect((await new Response(file?.stream()).bytes()).every((byte) => byte === 7)).toBe(true);
  });

  test('are not stored if their stream breaks', async () => {
    let pulls = 0;
    const broken = new ReadableStream({
      pull(controller) {
        pulls += 1;
        if (pulls > 2) controller.error(new Error('the connection broke'));
        else controller.enqueue(new Uint8Array(100_000));
      },
    });
    await expect(bucket.put('weir_broken/1.mp4', broken, 'video/mp4')).rejects.toThrow();
    expect(await bucket.open('weir_broken/1.mp4')).toBeUndefined();
  });

  test('can be deleted', async () => {
    await bucket.delete(NAME);
    expect(await bucket.open(NAME)).toBeUndefined();
  });

  test('fail in limited time if the server is not there or does not answer', async () => {
    const unreachable = openBucket({ endpoint: `http://127.0.0.1:${await freePort()}` });
    await expect(unreachable.put(NAME, new Uint8Array(3), 'image/png')).rejects.toThrow();
    const silent = Bun.serve({ port: 0, fetch: () => new Promise<Response>(() => {}) });
    const unanswered = openBucket({ endpoint: silent.url.origin, timeout_ms: 200 });
    await expect(unanswered.open(NAME)).rejects.toThrow('did not answer');
    await expect(unanswered.delete(NAME)).rejects.toThrow('did not answer');
    await silent.stop(true);
  });

  test.each(['../secret.png', 'a/b/1.png', ''])('cannot be named %p', async (name) => {
    await expect(bucket.put(name, new Uint8Array(), 'image/png')).rejects.toThrow('not a name');
  });
});
