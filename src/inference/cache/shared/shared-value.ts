import { sealBytes, unsealBytes } from '../../../config/seal.ts';
import type { KeptAnswer } from '../kept-answer.ts';

/** A stored answer, as Redis has it. */
export interface SharedValue {
  /** The request whose answer it is, a UUID. */
  readonly request_id: string;
  readonly stored_at_ms: number;
  readonly answer: KeptAnswer;
}

/** A level above it takes longer, and events are as small with it. */
const COMPRESSION = { level: 1 };

/**
 * Returns the bytes of a value: compressed, because the events of a stream repeat themselves, and encrypted.
 * `name` is the value's key in Redis: under another key it cannot be decrypted.
 */
export function sealValue(key: Uint8Array, value: SharedValue, name: string): Buffer {
  const packed = Bun.zstdCompressSync(Buffer.from(JSON.stringify(value)), COMPRESSION);
  return sealBytes(key, packed, name);
}

/** Returns a value that `sealValue` encrypted; undefined if it was changed, or has another name or key. */
export function unsealValue(
  key: Uint8Array,
  sealed: Uint8Array,
  name: string,
): SharedValue | undefined {
  try {
    const packed = unsealBytes(key, sealed, name);
    return JSON.parse(Bun.zstdDecompressSync(packed).toString('utf8')) as SharedValue;
  } catch {
    return undefined;
  }
}
