/** The first letters of a credential: an API key, a management or operator token, a one-time link. */
export type CredentialPrefix = 'sk' | 'mt' | 'op' | 'lk';

const SHOWN_CHARS = 8;

/** Returns a new credential of 256 random bits: `sk-…`, `mt-…`, `op-…` or `lk-…`. */
export function newCredential(prefix: CredentialPrefix): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return `${prefix}-${Buffer.from(bytes).toString('base64url')}`;
}

/**
 * Returns the hash that is stored instead of a credential. A plain SHA-256 is enough for a secret
 * of 256 random bits (docs/decisions/credentials.md).
 */
export function hashCredential(credential: string): string {
  return Bun.SHA256.hash(credential, 'hex');
}

/** Returns the visible part of a credential: `sk-AbCdE…`, or only `sk-…` if it is short. */
export function shownPrefix(credential: string): string {
  const shown = credential.length >= 3 * SHOWN_CHARS ? SHOWN_CHARS : 'sk-'.length;
  return `${credential.slice(0, shown)}…`;
}

type IdKind =
  | 'org'
  | 'key'
  | 'token'
  | 'replica'
  | 'person'
  | 'session'
  | 'account'
  | 'link'
  | 'view'
  | 'upkey'
  | 'budget'
  | 'endpoint'
  | 'alert'
  | 'msg';

/** Returns a new id that starts with its kind: `key_0192…`. */
export function newId(kind: IdKind): string {
  return `${kind}_${Bun.randomUUIDv7().replaceAll('-', '')}`;
}
