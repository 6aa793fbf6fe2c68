import type { Orm } from '../../../db/client.ts';
import { findKeyByHash, findKeyById, type KeyRecord } from '../../../db/keys.ts';
import { findTokenByHash } from '../../../db/organizations.ts';
import { hashCredential } from '../../../db/secrets.ts';
import { WeirError } from '../../errors/weir-error.ts';

/** Keys kept in memory; the least recently loaded leaves first. */
export const MAX_CACHED_KEYS = 20_000;
/** A change is announced at once; this is for an announcement that got lost. */
const KEY_TTL_MS = 30_000;
/** An unknown key is looked up again soon: it may just have been created elsewhere. */
const UNKNOWN_TTL_MS = 2_000;

interface Cached {
  record: KeyRecord | undefined;
  until: number;
}

/** Who holds a management token. */
export interface Manager {
  organization_id: string;
  role: string;
}

/** Authenticates requests (spec: Authentication). Keys come from memory, hashed, announced changes included. */
export class KeyRing {
  private readonly cache = new Map<string, Cached>();
  private readonly hashesById = new Map<string, string>();

  constructor(
    private readonly orm: Orm,
    private readonly now: () => number,
  ) {}

  /** The key of an inference request: Bearer, or `x-api-key` on the native routes. */
  async authenticate(request: Request, allowXApiKey: boolean): Promise<KeyRecord> {
    const secret = bearer(request) ?? (allowXApiKey ? request.headers.get('x-api-key') : null);
    if (!secret) throw missing('sk-');
    if (/^(mt|op)-/.test(secret)) {
      throw new WeirError('invalid_api_key', 'A management token cannot be used for inference.', {
        hint: 'Use an API key that begins with sk-.',
      });
    }
    const hash = hashCredential(secret);
    const cached = this.cache.get(hash);
    const record = cached && cached.until > this.now() ? cached.record : await this.load(hash);
    if (!record) throw new WeirError('invalid_api_key', 'The API key is not valid.');
    checkUsable(record, this.now());
    return record;
  }

  /** The holder of an `mt-` token. */
  async authenticateManager(request: Request): Promise<Manager> {
    const secret = bearer(request);
    if (!secret) throw missing('mt-');
    const token = secret.startsWith('mt-')
      ? await findTokenByHash(this.orm, hashCredential(secret))
      : undefined;
    if (token?.kind !== 'management' || !token.organization_id) {
      throw new WeirError('invalid_api_key', 'The management token is not valid.', {
        hint: 'The management interface takes a token that begins with mt-.',
      });
    }
    return { organization_id: token.organization_id, role: token.role ?? '' };
  }

  /** A key was changed, here or on another replica: forget it, and say what it is now. */
  async changed(keyId: string): Promise<KeyRecord | undefined> {
    const hash = this.hashesById.get(keyId);
    if (hash) this.cache.delete(hash);
    this.hashesById.delete(keyId);
    return findKeyById(this.orm, keyId);
  }

  /** Announcements may have been missed: believe nothing. */
  forgetAll(): void {
    this.cache.clear();
    this.hashesById.clear();
  }

  private async load(hash: string): Promise<KeyRecord | undefined> {
    const record = await findKeyByHash(this.orm, hash);
    if (this.cache.size >= MAX_CACHED_KEYS) {
      for (const oldest of this.cache.keys()) {
        this.cache.delete(oldest);
        break;
      }
    }
    this.cache.delete(hash);
    this.cache.set(hash, { record, until: this.now() + (record ? KEY_TTL_MS : UNKNOWN_TTL_MS) });
    if (record) this.hashesById.set(record.id, hash);
    return record;
  }
}

function bearer(request: Request): string | null {
  const header = request.headers.get('authorization');
  return header && /^Bearer /i.test(header) ? header.slice(7).trim() : null;
}

function missing(prefix: string): WeirError {
  return new WeirError('invalid_api_key', 'The request carries no key.', {
    hint: `Send the header Authorization: Bearer ${prefix}….`,
  });
}

function checkUsable(record: KeyRecord, now: number): void {
  if (record.status === 'revoked') {
    throw new WeirError('expired_api_key', 'This API key has been revoked.');
  }
  if (record.expires_at && record.expires_at.getTime() <= now) {
    throw new WeirError('expired_api_key', 'This API key has expired.');
  }
  if (record.status !== 'active') {
    throw new WeirError('access_denied', `This API key is ${record.status}.`, {
      hint: 'Set its status to active with the management API.',
    });
  }
}
