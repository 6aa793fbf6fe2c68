import type { CatalogueModel } from '../../catalogue/catalogue.ts';
import type { CacheControl } from '../../protocols/cache-controls.ts';
import type { ChannelConfig } from '../../upstreams/contract.ts';
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
  /** Who shares answers: all keys of an organization, or only the calls of one key. */
  readonly scope: 'organization' | 'key';
}

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
  readonly key: { readonly id: string; readonly organization_id: string };
  readonly model: CatalogueModel;
  readonly body: Readonly<Record<string, unknown>>;
  readonly body_text: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly control: CacheControl | undefined;
}

/** What a call found. */
export interface Hit {
  readonly entry: Entry;
  readonly age_s: number;
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
    const { enabled, scope } = this.deps.settings();
    const { control, kind, body, key } = call;
    if (!enabled || control === 'no_cache' || control === 'semantic_only') return undefined;
    if (call.body_text.length > MAX_BODY_CHARS) return undefined;
    if (control !== 'response_only' && !isDeterministic(body)) return undefined;
    const sketch = sketchOf(kind, body, scope === 'key' ? key.id : '');
    return new Lookup(this.deps, this.store, call, sketch, scope);
  }

  /** Removes the entries that are too old. */
  removeOld(): void {
    this.store.removeOld();
  }
}

/** One call and its place in the cache. */
export class Lookup {
  private identity: RequestIdentity | undefined;

  constructor(
    private readonly deps: AnswerCacheDeps,
    private readonly store: EntryStore,
    private readonly call: CacheableCall,
    private readonly sketch: number,
    private readonly scope: CacheSettings['scope'],
  ) {}

  /**
   * Returns the entry of the same request. `isUsable` reads its answer; an entry whose answer must not
   * be sent again is removed.
   */
  find(isUsable: (entry: Entry) => boolean): Hit | undefined {
    const { organization_id } = this.call.key;
    if (!this.store.mayHave(organization_id, this.sketch)) return undefined;
    const digest = digestOf(this.identify());
    if (digest === undefined) return undefined;
    const entry = this.store.find(organization_id, this.sketch, digest);
    if (!entry) return undefined;
    if (!isUsable(entry)) {
      this.store.remove(entry);
      return undefined;
    }
    this.store.remeasure(entry);
    entry.hits += 1;
    const age_s = Math.floor((this.deps.now() - entry.stored_at_ms) / MS_PER_S);
    return { entry, age_s: Math.max(0, age_s) };
  }

  /** Stores the answer of the call, after it was charged. */
  keep(answer: KeptAnswer): void {
    const { call } = this;
    if (call.control === 'no_store' || answer.usage?.web_searches) return;
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

  private identify(): RequestIdentity {
    const { kind, key, model, headers, body_text } = this.call;
    this.identity ??= {
      // The length keeps an id with a slash from passing for an organization and a key.
      scope:
        this.scope === 'key'
          ? `${key.organization_id.length}/${key.organization_id}/${key.id}`
          : key.organization_id,
      kind,
      model_id: model.id,
      version: mappingVersion(model, this.deps.channels()),
      headers,
      body_text,
    };
    return this.identity;
  }
}
