import type { CatalogueModel } from '../../catalogue/catalogue.ts';
import type { CacheControl } from '../../protocols/cache-controls.ts';
import type { ChannelConfig } from '../../upstreams/contract.ts';
import type { Caller } from '../call.ts';
import { isDeterministic } from './cache-control.ts';
import { digestOf, type RequestIdentity } from './canonical-request.ts';
import { Entry } from './entry.ts';
import { EntryStore, type StoreBounds } from './entry-store.ts';
import type { KeptAnswer } from './kept-answer.ts';
import { mappingVersion } from './mapping-version.ts';
import type { CachedKind } from './neutral-ids.ts';
import { sketchOf } from './sketch.ts';

/** How the cache works, as `weir.yaml` says. */
export interface CacheSettings extends StoreBounds {
  readonly enabled: boolean;
}

/** The key of a call, and with whom it shares answers: all keys of the organization, or nobody. */
export type CacheCaller = Pick<Caller, 'id' | 'organization_id' | 'cache_scope'>;

export interface AnswerCacheDeps {
  readonly settings: () => CacheSettings;
  readonly channels: () => readonly ChannelConfig[];
  readonly now: () => number;
  readonly random: () => number;
}

/** A call whose answer may be in the cache. */
export interface CacheableCall {
  readonly kind: CachedKind;
  readonly request_id: string;
  readonly key: CacheCaller;
  readonly model: CatalogueModel;
  readonly body: Readonly<Record<string, unknown>>;
  readonly body_text: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly control: CacheControl | undefined;
}

/** An earlier answer, or the answer of an identical call that runs. */
export interface Hit {
  readonly entry_id: string;
  readonly age_s: number;
  /** What the answer cost, nano-USD. */
  readonly cost_nano_usd: number;
}

/** A hit in the store. */
export interface StoredHit extends Hit {
  readonly entry: Entry;
}

const MS_PER_S = 1_000;
/** A longer body bypasses the cache, characters: its canonical form would hold up other calls. */
const MAX_BODY_CHARS = 1024 * 1024;

/**
 * The answers that this process may send again. A call gets an earlier answer only if the same answer
 * is right for it: same organization, model, mapping of the model, and canonical request.
 */
export class AnswerCache {
  private readonly store: EntryStore;

  constructor(private readonly deps: AnswerCacheDeps) {
    this.store = new EntryStore(deps.settings, deps.now, deps.random);
  }

  /** The bytes of all entries. */
  get bytes(): number {
    return this.store.bytes;
  }

  /** Returns the look-up of a call; undefined if the call bypasses the cache. */
  open(call: CacheableCall): Lookup | undefined {
    const { control, kind, body, key } = call;
    if (!this.deps.settings().enabled || control === 'no_cache' || control === 'semantic_only')
      return undefined;
    if (call.body_text.length > MAX_BODY_CHARS) return undefined;
    if (control !== 'response_only' && !isDeterministic(body)) return undefined;
    const scope = scopeOf(key);
    return new Lookup(this.deps, this.store, call, scope, sketchOf(kind, body, scope));
  }

  /** Removes the entries that are too old. */
  removeOld(): void {
    this.store.removeOld();
  }
}

/** One call and its place in the cache. */
export class Lookup {
  private identity: RequestIdentity | undefined;
  private digested: { readonly digest: string | null } | undefined;

  constructor(
    private readonly deps: AnswerCacheDeps,
    private readonly store: EntryStore,
    private readonly call: CacheableCall,
    private readonly scope: string,
    readonly sketch: number,
  ) {}

  get organization_id(): string {
    return this.call.key.organization_id;
  }

  /** False if no other call may get the answer. */
  get mayBeShared(): boolean {
    return this.call.control !== 'no_store';
  }

  /**
   * Returns the entry of the same request. `isUsable` reads its answer; an entry whose answer must not
   * be sent again is removed.
   */
  find(isUsable: (entry: Entry) => boolean): StoredHit | undefined {
    const { organization_id } = this;
    if (!this.store.mayHave(organization_id, this.sketch)) return undefined;
    const digest = this.digest();
    if (digest === null) return undefined;
    const entry = this.store.find(organization_id, this.sketch, digest);
    if (!entry) return undefined;
    if (!isUsable(entry)) {
      this.store.remove(entry);
      return undefined;
    }
    this.store.remeasure(entry);
    entry.hits += 1;
    const age_s = Math.floor((this.deps.now() - entry.stored_at_ms) / MS_PER_S);
    const { id: entry_id, cost_nano_usd } = entry;
    return { entry, entry_id, cost_nano_usd, age_s: Math.max(0, age_s) };
  }

  /** Stores the answer of the call, after it was charged. The answer must be fit to be sent again. */
  keep(answer: KeptAnswer): void {
    const { call } = this;
    if (!this.mayBeShared || answer.usage?.web_searches) return;
    const { request_id, key } = call;
    this.store.add(
      new Entry(
        request_id,
        key.organization_id,
        this.sketch,
        this.deps.now(),
        this.identify(),
        answer,
      ),
    );
  }

  /** The digest of the request; null if the request has none. */
  digest(): string | null {
    this.digested ??= { digest: digestOf(this.identify()) ?? null };
    return this.digested.digest;
  }

  private identify(): RequestIdentity {
    const { kind, model, headers, body_text } = this.call;
    this.identity ??= {
      scope: this.scope,
      kind,
      model_id: model.id,
      version: mappingVersion(model, this.deps.channels()),
      headers,
      body_text,
    };
    return this.identity;
  }
}

/** Returns the name of those who share answers with a key. */
function scopeOf({ id, organization_id, cache_scope }: CacheCaller): string {
  if (cache_scope !== 'key') return organization_id;
  // The length keeps an id with a slash from passing for an organization and a key.
  return `${organization_id.length}/${organization_id}/${id}`;
}
