import { afterAll, describe, expect, test } from 'bun:test';
import { getFile } from '../../src/http/files/route.ts';
import { FolderStorage } from '../../src/storage/folder-storage.ts';
import { signedPath } from '../../src/storage/signed-path.ts';
import { BodyBudget, BytesInFlight } from '../../src/upstreams/transport/body-budget.ts';
import { removeFolder, throwawayFolder } from '../support/throwaway.ts';

const folder = throwawayFolder('files');
afterAll(() => removeFolder(folder));
const storage = new FolderStorage(folder);
const secret = crypto.getRandomValues(new Uint8Array(32));
const handler = getFile({ files: { storage, secret, now: () => 5_000_000 } });
const NAME = 'weir_film/1.mp4';
await storage.put(NAME, new TextEncoder().encode('0123456789'));

async function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  const request = new Request(`http://localhost${path}`, { headers });
  const bytes = new BytesInFlight(new BodyBudget(0));
  const ids = { uuid: '', request_id: '', params: {} };
  return handler({ request, ...ids, server: null, arrived_ms: 0, bytes, action: undefined });
}
const good = signedPath(secret, NAME, 6_000);

describe('GET /v1/files', () => {
  test('200: the file with its type, and headers that prevent scripts', async () => {
    const response = await get(good);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('0123456789');
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'video/mp4',
      'content-length': '10',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
    });
  });

  test.each([
    ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
    ['bytes=4-', 206, '456789', 'bytes 4-9/10'],
    ['bytes=-2', 206, '89', 'bytes 8-9/10'],
    ['bytes=8-99', 206, '89', 'bytes 8-9/10'],
    ['bytes=10-', 416, '', 'bytes */10'],
    ['bytes=0-1,4-5', 200, '0123456789', null],
    ['pages=1-2', 200, '0123456789', null],
  ])('%s gives %i', async (range, status, body, contentRange) => {
    const response = await get(good, { range });
    expect(response.status).toBe(status);
    expect(await response.text()).toBe(body);
    expect(response.headers.get('content-range')).toBe(contentRange);
  });

  test('403: after the URL has expired; the hint says what to do', async () => {
    const expired = get(signedPath(secret, NAME, 5_000));
    await expect(expired).rejects.toMatchObject({ id: 'access_denied' });
  });

  test.each([
    ['another signature', good.replace(/signature=..../, 'signature=AAAA')],
    ['another file', good.replace('1.mp4', '2.mp4')],
    ['a file that does not exist', signedPath(secret, 'weir_film/9.mp4', 6_000)],
    ['a path outside the folder', '/v1/files/../../etc/passwd?expires=6000&signature=x'],
  ])('404 for %s, and no difference between them', async (_, path) => {
    await expect(get(path)).rejects.toMatchObject({ id: 'not_found' });
  });
});
