import { afterAll, describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { FolderStorage } from '../../src/storage/folder-storage.ts';
import { checkSignedPath, signedPath } from '../../src/storage/signed-path.ts';
import { removeFolder, throwawayFolder } from '../support/throwaway.ts';

const folder = throwawayFolder('storage');
afterAll(() => removeFolder(folder));
const storage = new FolderStorage(folder);
const NAME = 'weir_0123456789/1.png';

describe('files in the data folder', () => {
  test('are returned as stored, whole or in part', async () => {
    await storage.put(NAME, new TextEncoder().encode('a picture'));
    const file = await storage.open(NAME);
    expect(file).toMatchObject({ size_bytes: 9, content_type: 'image/png' });
    expect(await new Response(file?.stream()).text()).toBe('a picture');
    expect(await new Response(file?.stream(2, 5)).text()).toBe('pic');
  });

  test('are replaced by a file of the same name', async () => {
    await storage.put(NAME, new Blob(['second']));
    expect(await new Response((await storage.open(NAME))?.stream()).text()).toBe('second');
  });

  test('leave no temporary file if their stream breaks', async () => {
    let pulls = 0;
    const broken = new ReadableStream({
      pull(controller) {
        pulls += 1;
        if (pulls > 2) controller.error(new Error('the connection broke'));
        else controller.enqueue(new Uint8Array(100_000));
      },
    });
    await expect(storage.put('weir_broken/1.mp4', broken)).rejects.toThrow();
    expect(await storage.open('weir_broken/1.mp4')).toBeUndefined();
    expect(readdirSync(`${folder}/weir_broken`)).toEqual([]);
  });

  test('can be deleted, even twice', async () => {
    await storage.delete(NAME);
    await storage.delete(NAME);
    expect(await storage.open(NAME)).toBeUndefined();
  });

  test.each(['../secret.png', '/etc/passwd', 'a/b/1.png', 'a/1', 'a/../1.png', '', 'a\0/1.png'])(
    'cannot be named %p',
    async (name) => {
      await expect(storage.open(name)).rejects.toThrow('not a name');
      await expect(storage.put(name, new Uint8Array())).rejects.toThrow('not a name');
    },
  );
});

describe('a signed address', () => {
  const secret = crypto.getRandomValues(new Uint8Array(32));
  const at = (path: string) => new URL(path, 'http://localhost');

  test('is valid for its file until it expires', () => {
    const url = at(signedPath(secret, NAME, 1_000));
    expect(checkSignedPath(secret, url, 999)).toEqual({ name: NAME });
    expect(checkSignedPath(secret, url, 1_000)).toBe('expired');
  });

  test('is wrong with another name, time, secret or signature', () => {
    const path = signedPath(secret, NAME, 1_000);
    for (const changed of [
      path.replace('/1.png', '/2.png'),
      path.replace('expires=1000', 'expires=2000'),
      path.replace(/signature=(.)/, (_, first) => `signature=${first === '_' ? '-' : '_'}`),
      path.replace(/&signature.*/, ''),
      path.replace('expires=1000', 'expires=x'),
    ]) {
      expect(checkSignedPath(secret, at(changed), 0)).toBe('wrong');
    }
    expect(checkSignedPath(new Uint8Array(32), at(path), 0)).toBe('wrong');
  });
});
