import type { AnyMachineSnapshot } from 'xstate';
import { HASH_DIGITS, hashedText } from '../../replay/step.ts';

/** Returns the SHA-256 of a text as hex digits. */
export function sha256(text: string): string {
  return new Bun.CryptoHasher('sha256').update(text).digest('hex');
}

/**
 * Returns the hash of state and context: the first 32 hex digits of the SHA-256 of
 * `{value, context}` as canonical JSON. So the order of keys does not change the hash.
 */
export function hashSnapshot(snapshot: Pick<AnyMachineSnapshot, 'value' | 'context'>): string {
  return sha256(hashedText(snapshot)).slice(0, HASH_DIGITS);
}
