import { timingSafeEqual } from 'node:crypto';
import { isStoredName } from './storage.ts';

/** Start of the path of stored files. Only a request with a valid signature may download a file. */
const FILES_PATH = '/v1/files/';

/**
 * Returns the path of a stored file, with a signature in its query. Any client that has this path
 * can download the file until `expires_at_s` (Unix seconds).
 */
export function signedPath(secret: Uint8Array, name: string, expires_at_s: number): string {
  const expires = Math.floor(expires_at_s);
  return `${FILES_PATH}${name}?expires=${expires}&signature=${signatureOf(secret, name, expires)}`;
}

/**
 * Returns the file name of a signed address. Returns `expired` if the signature has expired, or
 * `wrong` if the name or the signature is not valid.
 */
export function checkSignedPath(
  secret: Uint8Array,
  url: URL,
  now_s: number,
): { name: string } | 'expired' | 'wrong' {
  const name = url.pathname.slice(FILES_PATH.length);
  const expires = Number(url.searchParams.get('expires'));
  if (!isStoredName(name) || !Number.isSafeInteger(expires)) return 'wrong';
  const expected = Buffer.from(signatureOf(secret, name, expires));
  const given = Buffer.from(url.searchParams.get('signature') ?? '');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 'wrong';
  return expires <= now_s ? 'expired' : { name };
}

function signatureOf(secret: Uint8Array, name: string, expires: number): string {
  return new Bun.CryptoHasher('sha256', secret).update(`${expires}\n${name}`).digest('base64url');
}
