/** Credentials are 256 random bits, so a plain SHA-256 hides them well (decisions: credentials). */
export type CredentialPrefix = 'sk' | 'mt' | 'op';

const SHOWN_CHARS = 8;

/** `sk-…`, `mt-…` or `op-…`. */
export function newCredential(prefix: CredentialPrefix): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return `${prefix}-${Buffer.from(bytes).toString('base64url')}`;
}

/** What is stored instead of a credential. */
export function hashCredential(credential: string): string {
  return Bun.SHA256.hash(credential, 'hex');
}

/** What may be shown of a credential: `sk-AbCdE…`; of one that was chosen short, only its kind. */
export function shownPrefix(credential: string): string {
  const shown = credential.length >= 3 * SHOWN_CHARS ? SHOWN_CHARS : 'sk-'.length;
  return `${credential.slice(0, shown)}…`;
}

/** An id with its kind: `key_0192…`. */
export function newId(kind: 'org' | 'key' | 'token' | 'replica'): string {
  return `${kind}_${Bun.randomUUIDv7().replaceAll('-', '')}`;
}
