import { afterAll, describe, expect, test } from 'bun:test';
import { statSync, writeFileSync } from 'node:fs';
import { openSecretKey } from '../../src/config/secret-key.ts';
import { removeFolder, throwawayFolder } from '../support/throwaway.ts';

const folder = throwawayFolder('secret');
afterAll(() => removeFolder(folder));

describe('the installation’s key', () => {
  test('is created once, in a file that only its owner can read', () => {
    const first = openSecretKey(undefined, folder).for('file-urls');
    expect(openSecretKey(undefined, folder).for('file-urls')).toEqual(first);
    expect(statSync(`${folder}/secret.key`).mode & 0o777).toBe(0o600);
  });

  test('differs for each use', () => {
    const key = openSecretKey(undefined, folder);
    expect(key.for('webhook-secrets')).not.toEqual(key.for('file-urls'));
  });

  test('comes from WEIR_SECRET_KEY on every replica, and must not be short', () => {
    const given = 'a key that all replicas of Weir have';
    const [one, two] = [folder, '/nowhere'].map((at) => openSecretKey(given, at).for('file-urls'));
    expect(one).toEqual(two as Uint8Array);
    expect(() => openSecretKey('short', folder)).toThrow('WEIR_SECRET_KEY');
  });

  test('is refused with the name of its file if the file is too short', () => {
    const damaged = throwawayFolder('short-secret');
    writeFileSync(`${damaged}/secret.key`, 'short');
    expect(() => openSecretKey(undefined, damaged)).toThrow(`${damaged}/secret.key`);
    removeFolder(damaged);
  });
});
