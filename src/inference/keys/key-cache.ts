import type { Orm } from '../../../db/client.ts';
import { findKeyByHash, findKeyById, type KeyRecord } from '../../../db/keys.ts';
import { findTokenByHash, type TokenRecord } from '../../../db/organizations.ts';
import { hashCredential } from '../../../db/secrets.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { LruCache } from './lru-cache.ts';
import { SharedLookups } from './shared-lookups.ts';

/** Keys kept in memory; the longest unused leaves first. */
const MAX_CACHED_KEYS = 20_000;
/** Wrong keys kept in memory, apart from the right ones: a flood of them pushes nobody out. */
const MAX_UNKNOWN_KEYS = 10_000;
/** A change is announced at once; this is for an announcement that got lost. */
export const KEY_TTL_MS = 30_000;
/** An unknown key is looked up again soon: it may just have been created elsewhere. */
const UNKNOWN_TTL_MS = 2_000;
const MAX_LOOKUPS = 1_000;
/** Longer than any credential of ours. */
const MAX_CREDENTIAL_CHARS = 512;

interface Known {
  record: KeyRecord;
  until: number;
}

/** Who holds a management token. */
export interface Manager {
  organization_id: string;
  role: string;
}

/** Authenticates requests (spec: Authentication). Keys come from memory, hashed, announced changes included. */
export class KeyCache {
  private readonly known = new LruCache<string, Known>(MAX_CACHED_KEYS, ({ record }) =>
    this.hashesById.delete(record.id),
  );
  /** Hash → until when it counts as unknown. */
  private readonly unknown = new LruCache<string, number>(MAX_UNKNOWN_KEYS);
  private readonly hashesById = new Map<string, string>();
  private readonly keyLookups = new SharedLookups<KeyRecord | undefined>(MAX_LOOKUPS);
  private readonly tokenLookups = new SharedLookups<TokenRecord | undefined>(MAX_LOOKUPS);
  /** Counts announcements: what was read before one is not kept after it. */
  private announcements = 0;

  constructor(
    private readonly orm: Orm,
    private readonly now: () => number,
  ) {}

  /**
   * The key of an inference request. Returned at once if it is in memory, as most are. Throws
   * WeirError: `invalid_api_key`, `expired_api_key`, `access_denied`.
   */
  authenticate(secret: string | null): KeyRecord | Promise<KeyRecord> {
    if (!secret) throw missing('sk-');
    if (/^(mt|op)-/.test(secret)) {
      throw new WeirError('invalid_api_key', 'A management token cannot be used for inference.', {
        hint: 'Use an API key that begins with sk-.',
      });
    }
    const found = isCredential(secret, 'sk-') ? this.find(hashCredential(secret)) : undefined;
    return found instanceof Promise
      ? found.then((record) => usable(record, this.now()))
      : usable(found, this.now());
  }

  /** A key that came with a request before, as it is now. Throws WeirError like `authenticate`. */
  async findActiveById(key_id: string): Promise<KeyRecord> {
    const hash = this.hashesById.get(key_id);
    const record = await (hash === undefined ? findKeyById(this.orm, key_id) : this.find(hash));
    return usable(record, this.now());
  }

  /** The holder of an `mt-` token. */
  async authenticateManager(secret: string | null): Promise<Manager> {
    const token = await this.token(secret, 'mt-');
    if (token?.kind !== 'management' || !token.organization_id) {
      throw new WeirError('invalid_api_key', 'The management token is not valid.', {
        hint: 'The management interface takes a token that begins with mt-.',
      });
    }
    return { organization_id: token.organization_id, role: token.role ?? '' };
  }

  /** Lets the holder of an `op-` token pass; what he may do concerns the whole installation. */
  async authenticateOperator(secret: string | null): Promise<void> {
    const token = await this.token(secret, 'op-');
    if (token?.kind === 'operator') return;
    throw new WeirError('invalid_api_key', 'The operator token is not valid.', {
      hint: 'The operator interface takes a token that begins with op-.',
    });
  }

  private async token(secret: string | null, prefix: string): Promise<TokenRecord | undefined> {
    if (!secret) throw missing(prefix);
    if (!isCredential(secret, prefix)) return undefined;
    const hash = hashCredential(secret);
    return this.tokenLookups.run(hash, () => findTokenByHash(this.orm, hash));
  }

  /** A key was changed, here or on another replica: forget it, and say what it is now. */
  async onKeyChanged(key_id: string): Promise<KeyRecord | undefined> {
    this.forget(key_id);
    return findKeyById(this.orm, key_id);
  }

  /** The next request reads the key anew. */
  forget(key_id: string): void {
    this.announcements += 1;
    this.keyLookups.forget();
    const hash = this.hashesById.get(key_id);
    if (hash) this.known.delete(hash);
  }

  /** Announcements may have been missed: believe nothing. */
  forgetAll(): void {
    this.announcements += 1;
    this.keyLookups.forget();
    this.known.clear();
    this.unknown.clear();
  }

  private find(hash: string): KeyRecord | undefined | Promise<KeyRecord | undefined> {
    const known = this.known.get(hash);
    if (known && known.until > this.now()) return known.record;
    const unknownUntil = this.unknown.get(hash);
    if (unknownUntil !== undefined && unknownUntil > this.now()) return undefined;
    return this.keyLookups.run(hash, () => this.load(hash));
  }

  private async load(hash: string): Promise<KeyRecord | undefined> {
    const { announcements } = this;
    const record = await findKeyByHash(this.orm, hash);
    if (!record) {
      this.unknown.set(hash, this.now() + UNKNOWN_TTL_MS);
    } else if (announcements === this.announcements) {
      this.unknown.delete(hash);
      this.known.set(hash, { record, until: this.now() + KEY_TTL_MS });
      this.hashesById.set(record.id, hash);
    }
    return record;
  }
}

function isCredential(secret: string, prefix: string): boolean {
  return secret.startsWith(prefix) && secret.length <= MAX_CREDENTIAL_CHARS;
}

function missing(prefix: string): WeirError {
  return new WeirError('invalid_api_key', 'The request carries no key.', {
    hint: `Send the header Authorization: Bearer ${prefix}….`,
  });
}

/** A key that may be used now. Throws WeirError. */
function usable(record: KeyRecord | undefined, now: number): KeyRecord {
  if (!record) throw new WeirError('invalid_api_key', 'The API key is not valid.');
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
  return record;
}
