import { hkdfSync, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigurationError } from './environment.ts';

const KEY_BYTES = 32;
const FILE = 'secret.key';

/** What the one key of an installation is used for; each use has a key of its own. */
export type KeyUse = 'file-urls' | 'webhook-secrets';

/**
 * The installation's key: `WEIR_SECRET_KEY`, or a file in the data folder that is made at the first
 * start (mode 0600). Replicas must have the same one, or a file's address that one of them signed is
 * refused by the others. Throws ConfigurationError for a key that is too short.
 */
export function openSecretKey(configured: string | undefined, dataDir: string): SecretKey {
  if (configured !== undefined) return new SecretKey(Buffer.from(configured, 'utf8'));
  const file = join(dataDir, FILE);
  if (!existsSync(file)) {
    mkdirSync(dataDir, { recursive: true });
    const made = randomBytes(KEY_BYTES).toString('base64url');
    // Another process may make it at the same moment: the first one wins.
    writeFileSync(file, made, { mode: 0o600, flag: 'a' });
  }
  return new SecretKey(Buffer.from(readFileSync(file, 'utf8').slice(0, 43), 'utf8'));
}

export class SecretKey {
  constructor(private readonly key: Buffer) {
    if (key.length < KEY_BYTES) {
      throw new ConfigurationError(
        `WEIR_SECRET_KEY is not usable: at least ${KEY_BYTES} characters, e.g. from openssl rand -base64 32.`,
      );
    }
  }

  /** The key for one use (HKDF-SHA-256, RFC 5869): nobody can tell one from another. */
  for(use: KeyUse): Uint8Array {
    return new Uint8Array(hkdfSync('sha256', this.key, '', `weir ${use}`, KEY_BYTES));
  }
}
