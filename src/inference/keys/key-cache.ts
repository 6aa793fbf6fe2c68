import type { OrganizationStatus } from '../../../db/accounts/organizations.ts';
import type { Orm } from '../../../db/client.ts';
import { findKeyByHash, findKeyById, type KeyRecord } from '../../../db/keys.ts';
import { findTokenByHash, type TokenRecord } from '../../../db/organizations.ts';
import { hashCredential } from '../../../db/secrets.ts';
import type { TokenScope } from '../../access/actions.ts';
import { organizationStatusError } from '../../errors/organization-status.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { LruCache } from './lru-cache.ts';
import { SharedLookups } from './shared-lookups.ts';

/** The most keys in memory. The least recently used key is evicted first. */
const MAX_CACHED_KEYS = 20_000;
/**
 * The most unknown keys in memory. They are stored apart from valid keys, so that a flood of
 * unknown keys evicts no valid key.
 */
const MAX_UNKNOWN_KEYS = 10_000;
/**
 * A cached key or ended token is read again after this time, because the announcement of a change may
 * be lost.
 */
export const KEY_TTL_MS = 30_000;
/**
 * An unknown key is looked up again after this time, because another replica may just have created
 * it.
 */
const UNKNOWN_TTL_MS = 2_000;
/** The most database lookups at the same time. */
const MAX_LOOKUPS = 1_000;
/** The most valid tokens, and the most ended tokens, in memory. */
const MAX_KNOWN_TOKENS = 20_000;
/** No credential that Weir issues is this long. */
const MAX_CREDENTIAL_CHARS = 512;

type EndOfToken = NonNullable<TokenRecord['ended']>;

interface CachedKey {
  record: KeyRecord;
  readonly hash: string;
  /** Milliseconds since the Unix epoch; 0 if the record must be read again. */
  cached_until_ms: number;
  /** The record must also be read again if the cache was emptied since. */
  readonly emptied: number;
}

/** A management or operator token that was valid when it was read. */
export interface ValidToken {
  readonly id: string;
  /** The visible start of the token. */
  readonly prefix: string;
  readonly scopes: readonly TokenScope[];
}

/** A valid management token, and the organization that it belongs to. */
export interface ManagementToken extends ValidToken {
  readonly organization_id: string;
  /** The rate-limit role of the organization. */
  readonly role: string;
  readonly organization_status: OrganizationStatus;
}

/**
 * Authenticates requests (spec: Authentication). Keys are cached by the hash of their secret. If a
 * change of a key is announced, the key is read again before its next use. The cache still knows
 * that the key was valid (`findKnownKey`).
 */
export class KeyCache {
  private readonly cached = new LruCache<string, CachedKey>(MAX_CACHED_KEYS, (key) => {
    const hashes = this.hashesOf(key.record);
    if (hashes.get(key.record.id) === key.hash) hashes.delete(key.record.id);
  });
  /**
   * Maps the hash of an unknown key to the time until which the key is not looked up again, ms
   * since the Unix epoch.
   */
  private readonly unknownUntil = new LruCache<string, number>(MAX_UNKNOWN_KEYS);
  private readonly hashesById = new Map<string, string>();
  /** The hashes of secrets that were replaced, and may still be valid. */
  private readonly previousHashesById = new Map<string, string>();
  private readonly keyLookups = new SharedLookups<KeyRecord | undefined>(MAX_LOOKUPS);
  private readonly tokenLookups = new SharedLookups<TokenRecord | undefined>(MAX_LOOKUPS);
  /**
   * How many changes of keys were announced so far. If this number grew while a record was read,
   * the record may be outdated and is not cached.
   */
  private announcements = 0;
  /** How often all keys were marked as outdated. */
  private emptied = 0;
  /** Hashes of tokens that were valid when they were read last. */
  private readonly knownTokens = new LruCache<string, true>(MAX_KNOWN_TOKENS);

  /** Why tokens have ended, by hash. So a program that still sends such a token costs few queries. */
  private readonly endedTokens = new LruCache<string, { end: EndOfToken; until_ms: number }>(
    MAX_KNOWN_TOKENS,
  );

  constructor(
    private readonly orm: Orm,
    private readonly now: () => number,
  ) {}

  /**
   * Returns the key of an inference request. Returns a promise only if the key must be read from
   * the database. Throws WeirError: `invalid_api_key`, `expired_api_key`, `access_denied`.
   */
  authenticate(secret: string | null): KeyRecord | Promise<KeyRecord> {
    if (!secret) throw missingKeyError('sk-');
    if (/^(mt|op)-/.test(secret)) {
      throw new WeirError('invalid_api_key', 'Only an API key can be used for inference.', {
        hint: 'Use an API key that begins with sk-.',
      });
    }
    const found = isCredential(secret, 'sk-') ? this.findByHash(hashCredential(secret)) : undefined;
    return found instanceof Promise
      ? found.then((record) => requireActive(record, this.now()))
      : requireActive(found, this.now());
  }

  /**
   * Returns the key if this replica knows that it was active when it was read last; otherwise
   * undefined. The promise of an outdated record reads the key again, and may reject like
   * `authenticate`.
   */
  findKnownKey(secret: string): KeyRecord | Promise<KeyRecord> | undefined {
    if (!isCredential(secret, 'sk-')) return undefined;
    const hash = hashCredential(secret);
    const cached = this.cached.get(hash);
    const now = this.now();
    if (!cached || !isActive(cached.record, now)) return undefined;
    if (this.isFresh(cached, now)) return cached.record;
    return this.keyLookups
      .run(hash, () => this.load(hash))
      .then((record) => requireActive(record, this.now()));
  }

  /** True if a token of this kind was valid when this replica read it last. */
  isKnownToken(secret: string, prefix: 'mt-' | 'op-'): boolean {
    if (!isCredential(secret, prefix)) return false;
    return this.knownTokens.get(hashCredential(secret)) !== undefined;
  }

  /**
   * Returns the key with this id, e.g. the key that created a batch. If the key may not be used
   * now, throws WeirError like `authenticate`.
   */
  async getActiveById(key_id: string): Promise<KeyRecord> {
    return requireActive(await this.findById(key_id), this.now());
  }

  /**
   * Returns the key with this id; undefined if the organization has no such key. If the key may not be
   * used now, throws WeirError like `authenticate`.
   */
  async findActiveOf(organization_id: string, key_id: string): Promise<KeyRecord | undefined> {
    const record = await this.findById(key_id);
    if (record?.organization_id !== organization_id) return undefined;
    return requireActive(record, this.now());
  }

  private async findById(key_id: string): Promise<KeyRecord | undefined> {
    const hash = this.hashesById.get(key_id);
    const found = hash === undefined ? undefined : await this.findByHash(hash);
    // If the key was rotated meanwhile, the hash is that of its previous secret.
    const isCurrent = found !== undefined && !found.is_previous_secret;
    return isCurrent ? found : findKeyById(this.orm, key_id);
  }

  /** Returns a valid `mt-` token. Throws WeirError: `invalid_api_key`, `expired_api_key`. */
  async authenticateManager(secret: string | null): Promise<ManagementToken> {
    const token = await this.findToken(secret, 'mt-');
    if (token?.kind !== 'management' || !token.organization_id) {
      throw new WeirError('invalid_api_key', 'The management token is not valid.', {
        hint: 'The management interface takes a token that begins with mt-.',
      });
    }
    const { organization_id, role, organization_status } = token;
    const organization = { organization_id, role: role ?? '' };
    return {
      ...{ ...validToken(token), ...organization },
      organization_status: organization_status ?? 'active',
    };
  }

  /**
   * Returns a valid `op-` token, which permits operations on the whole installation. Throws WeirError:
   * `invalid_api_key`, `expired_api_key`.
   */
  async authenticateOperator(secret: string | null): Promise<ValidToken> {
    const token = await this.findToken(secret, 'op-');
    if (token?.kind === 'operator') return validToken(token);
    throw new WeirError('invalid_api_key', 'The operator token is not valid.', {
      hint: 'The operator interface takes a token that begins with op-.',
    });
  }

  /**
   * Called when tokens were changed, so that a request that comes later does not share a lookup that
   * began earlier.
   */
  forgetTokens(): void {
    this.tokenLookups.detachAll();
  }

  private async findToken(secret: string | null, prefix: string): Promise<TokenRecord | undefined> {
    if (!secret) throw missingKeyError(prefix);
    if (!isCredential(secret, prefix)) return undefined;
    const hash = hashCredential(secret);
    const known = this.endedTokens.get(hash);
    if (known && known.until_ms > this.now()) throw endedTokenError(known.end);
    const token = await this.tokenLookups.run(hash, () => findTokenByHash(this.orm, hash));
    if (token && token.ended === null) this.knownTokens.set(hash, true);
    else this.knownTokens.delete(hash);
    if (!token?.ended) return token;
    this.endedTokens.set(hash, { end: token.ended, until_ms: this.now() + KEY_TTL_MS });
    throw endedTokenError(token.ended);
  }

  /**
   * Handles a change of a key, on this or another replica. Marks the key as outdated and returns
   * its current record.
   */
  async onKeyChanged(key_id: string): Promise<KeyRecord | undefined> {
    this.invalidate(key_id);
    return findKeyById(this.orm, key_id);
  }

  /** Marks a key as outdated; the next request reads it from the database. */
  invalidate(key_id: string): void {
    this.announcements += 1;
    this.keyLookups.detachAll();
    this.markOutdated(this.hashesById.get(key_id));
    this.markOutdated(this.previousHashesById.get(key_id));
  }

  private markOutdated(hash: string | undefined): void {
    const cached = hash === undefined ? undefined : this.cached.get(hash);
    if (cached) cached.cached_until_ms = 0;
  }

  /** Marks the keys of an organization as outdated. Called when its status or limits changed. */
  invalidateOrganization(organization_id: string): void {
    this.announcements += 1;
    this.keyLookups.detachAll();
    for (const cached of this.cached.values()) {
      if (cached.record.organization_id === organization_id) cached.cached_until_ms = 0;
    }
  }

  /** Marks all keys as outdated. Called when announcements may have been lost. */
  invalidateAll(): void {
    this.announcements += 1;
    this.emptied += 1;
    this.keyLookups.detachAll();
    this.unknownUntil.clear();
  }

  private findByHash(hash: string): KeyRecord | undefined | Promise<KeyRecord | undefined> {
    const cached = this.cached.get(hash);
    if (cached && this.isFresh(cached, this.now())) return cached.record;
    const until_ms = this.unknownUntil.get(hash);
    if (until_ms !== undefined && until_ms > this.now()) return undefined;
    return this.keyLookups.run(hash, () => this.load(hash));
  }

  private isFresh({ cached_until_ms, emptied }: CachedKey, now: number): boolean {
    return cached_until_ms > now && emptied === this.emptied;
  }

  private async load(hash: string): Promise<KeyRecord | undefined> {
    const { announcements } = this;
    const record = await findKeyByHash(this.orm, hash);
    if (!record) {
      this.cached.delete(hash);
      this.unknownUntil.set(hash, this.now() + UNKNOWN_TTL_MS);
    } else if (announcements === this.announcements) {
      this.unknownUntil.delete(hash);
      const { emptied } = this;
      this.cached.set(hash, { record, hash, cached_until_ms: this.now() + KEY_TTL_MS, emptied });
      const hashes = this.hashesOf(record);
      // The key was rotated, and its new secret was used before the rotation was announced here.
      if (hashes.get(record.id) !== hash) this.markOutdated(hashes.get(record.id));
      hashes.set(record.id, hash);
    }
    return record;
  }

  private hashesOf({ is_previous_secret }: KeyRecord): Map<string, string> {
    return is_previous_secret ? this.previousHashesById : this.hashesById;
  }
}

function validToken({ id, prefix, scopes }: TokenRecord): ValidToken {
  return { id, prefix, scopes: scopes as TokenScope[] };
}

function isCredential(secret: string, prefix: string): boolean {
  return secret.startsWith(prefix) && secret.length <= MAX_CREDENTIAL_CHARS;
}

function missingKeyError(prefix: string): WeirError {
  return new WeirError('invalid_api_key', 'The request carries no key.', {
    hint: `Send the header Authorization: Bearer ${prefix}….`,
  });
}

function endedTokenError(end: EndOfToken): WeirError {
  const message = `This token ${end === 'revoked' ? 'has been revoked' : 'has expired'}.`;
  return new WeirError('expired_api_key', message, { hint: 'Use another token.' });
}

/** True if a key may be used now. */
function isActive({ status, organization_status, expires_at }: KeyRecord, now: number): boolean {
  if (status !== 'active' || organization_status !== 'active') return false;
  return !(expires_at && expires_at.getTime() <= now);
}

/** Returns the record of a key that may be used now. Throws WeirError like `authenticate`. */
function requireActive(record: KeyRecord | undefined, now: number): KeyRecord {
  if (!record) throw new WeirError('invalid_api_key', 'The API key is not valid.');
  if (record.status === 'revoked') {
    throw new WeirError('expired_api_key', 'This API key has been revoked.');
  }
  if (record.expires_at && record.expires_at.getTime() <= now) {
    throw new WeirError('expired_api_key', 'This API key has expired.');
  }
  if (record.status !== 'active') {
    throw new WeirError('access_denied', `This API key is ${record.status}.`, {
      hint: 'Set the status of the API key to active with the management API.',
    });
  }
  if (record.organization_status !== 'active') {
    throw organizationStatusError(record.organization_status);
  }
  return record;
}
