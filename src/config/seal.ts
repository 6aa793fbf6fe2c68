import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts a secret for a row (AES-256-GCM), and returns the sealed text. The same `context` is
 * needed to decrypt it.
 */
export function seal(key: Uint8Array, plain: string, context: string): string {
  return sealBytes(key, Buffer.from(plain, 'utf8'), context).toString('base64url');
}

/**
 * Decrypts a secret that `seal` encrypted. Throws if key or context differ, or if the text was
 * changed.
 */
export function unseal(key: Uint8Array, sealed: string, context: string): string {
  return unsealBytes(key, Buffer.from(sealed, 'base64url'), context).toString('utf8');
}

/** Encrypts bytes, as `seal` encrypts a text. */
export function sealBytes(key: Uint8Array, plain: Uint8Array, context: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(context));
  const sealed = [cipher.update(plain), cipher.final()];
  return Buffer.concat([nonce, cipher.getAuthTag(), ...sealed]);
}

/** Decrypts bytes that `sealBytes` encrypted. Throws like `unseal`. */
export function unsealBytes(key: Uint8Array, sealed: Uint8Array, context: string): Buffer {
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, NONCE_BYTES))
    .setAAD(Buffer.from(context))
    .setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  const plain = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([plain, decipher.final()]);
}
