import { hkdfSync, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigurationError } from './environment.ts';

const KEY_BYTES = 32;
const FILE = 'secret.key';

/** The purposes of the installation's key. Each purpose has its own derived key. */
export type KeyUse =
  | 'file-urls'
  | 'webhook-secrets'
  | 'kept-answers'
  | 'kept-changes'
  | 'debug-copies'
  | 'sign-in'
  | 'channel-keys'
  | 'own-keys'
  | 'aliases'
  | 'cached-answers'
  | 'cached-answer-names';

/**
 * Returns the installation's key. The key is `WEIR_SECRET_KEY`, or a file in the data folder (mode
 * 0600) that the first start creates. All replicas need the same key. Otherwise one replica refuses
 * the file URLs that another replica signed. Throws ConfigurationError if the key is too short.
 */
export function openSecretKey(configured: string | undefined, dataDir: string): SecretKey {
  if (configured !== undefined)
    return new SecretKey(Buffer.from(configured, 'utf8'), 'WEIR_SECRET_KEY');
  const file = join(dataDir, FILE);
  if (!existsSync(file)) {
    mkdirSync(dataDir, { recursive: true });
    const generated = randomBytes(KEY_BYTES).toString('base64url');
    // If two processes create the file at the same moment, each process appends a key to the file.
    // Both then use only the first key in the file.
    writeFileSync(file, generated, { mode: 0o600, flag: 'a' });
  }
  return new SecretKey(Buffer.from(readFileSync(file, 'utf8').slice(0, 43), 'utf8'), file);
}

/** The installation's key, from which the keys of all uses are derived. */
export class SecretKey {
  /** `source` is the setting or the file of the key; an error names it. */
  constructor(
    private readonly key: Buffer,
    source: string,
  ) {
    if (key.length < KEY_BYTES) {
      throw new ConfigurationError(
        `The key in ${source} is too short: it must have at least ${KEY_BYTES} characters. Create one with openssl rand -base64 32.`,
      );
    }
  }

  /**
   * Returns the derived key of one use (HKDF-SHA-256, RFC 5869). One derived key reveals nothing
   * about another.
   */
  for(use: KeyUse): Uint8Array {
    return new Uint8Array(hkdfSync('sha256', this.key, '', `weir ${use}`, KEY_BYTES));
  }
}
