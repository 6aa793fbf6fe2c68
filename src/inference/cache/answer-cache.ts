import type { OwnServing } from '../../actors/channels/own-keys.ts';
import type { CatalogueModel } from '../../catalogue/catalogue.ts';
import type { CacheControl } from '../../protocols/cache-controls.ts';
import type { ChannelConfig } from '../../upstreams/contract.ts';
import type { Caller } from '../call.ts';
import { isDeterministic } from './cache-control.ts';
import type { CacheRules } from './cache-rules.ts';
import { digestOf, type RequestIdentity } from './canonical-request.ts';
import type { Entry, StoredHit } from './entry.ts';
import { EntryStore, type StoreBounds } from './entry-store.ts';
import type { KeptAnswer } from './kept-answer.ts';
import { mappingVersion } from './mapping-version.ts';
import type { CachedKind } from './neutral-ids.ts';
import type { SharedAnswers, SharedPlace } from './shared/shared-answers.ts';
import { sketchOf } from './sketch.ts';

/** How the cache works, as `weir.yaml` says. */
export interface CacheSettings extends StoreBounds {
  readonly enabled: boolean;
}

/** The key of a call, and with whom it shares answers: all keys of the organization, or nobody. */
export type CacheCaller = Pick<Caller, 'id' | 'organization_id' | 'cache_scope' | 'cap_counts'>;

export interface AnswerCacheDeps {
  readonly settings: () => CacheSettings;
  readonly channels: () => readonly ChannelConfig[];
  /** Which entries must not be sent again. */
  readonly rules: Pick<CacheRules, 'generationOf' | 'isRemoved'>;
  /** The answers of all replicas. Undefined if they share none. */
  readonly shared?: SharedAnswers | undefined;
  readonly now: () => number;
}

/** A call whose answer may be in the cache. */
export interface CacheableCall {
  readonly request_id: string;
  readonly key: CacheCaller;
  readonly model: CatalogueModel;
  readonly body: Readonly<Record<string, unknown>>;
  readonly body_text: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The own keys that serve the call. Their answers are apart from those of the platform's channels. */
  readonly own?: OwnServing | undefined;
}

/** A longer body bypasses the cache, characters: its canonical form would hold up other calls. */
const MAX_BODY_CHARS = 1024 * 1024;

/**
 * The answers that this process may send again. A call gets an earlier answer only if the same answer
 * is right for it: same organization, model, mapping of the model, and canonical request.
 */
export class AnswerCache {
  private readonly store: EntryStore;

  constructor(private readonly deps: AnswerCacheDeps) {
    this.store = new EntryStore(deps.settings, deps.now);
  }

  /** The bytes of all entries. */
  get bytes(): number {
    return this.store.bytes;
  }

  /** Returns the look-up of a call; undefined if the call bypasses the cache. */
  open(
    kind: CachedKind,
    call: CacheableCall,
    control: CacheControl | undefined,
  ): Lookup | undefined {
    if (!this.deps.settings().enabled) return undefined;
    if (control === 'no_cache' || control === 'semantic_only') return undefined;
    if (call.body_text.length > MAX_BODY_CHARS) return undefined;
    if (control !== 'response_only' && !isDeterministic(call.body)) return undefined;
    return new Lookup(this.deps, this.store, kind, call, control !== 'no_store');
  }

  /** Removes the entries of an organization that its rules forbid. Called when they changed. */
  obeyRules(organization_id: string): void {
    const { rules } = this.deps;
    this.store.removeForbidden(
      organization_id,
      ({ request_id, model_id, generation }) =>
        rules.isRemoved(organization_id, request_id) ||
        rules.generationOf(organization_id, model_id) !== generation,
    );
  }

  /** Removes the entries that are too old. */
  removeOld(): void {
    this.store.removeOld();
  }
}

/** One call and its place in the cache. */
export class Lookup {
  readonly organization_id: string;
  readonly sketch: number;
  private readonly scope: string;
  private identity: RequestIdentity | undefined;
  /** As it is when the call begins: an answer from before a purge must not be found after it. */
  private readonly generation: string;
  private digested: { readonly digest: string | null } | undefined;

  constructor(
    private readonly deps: AnswerCacheDeps,
    private readonly store: EntryStore,
    private readonly kind: CachedKind,
    private readonly call: CacheableCall,
    /** False if no other call may get the answer. */
    readonly mayBeShared: boolean,
  ) {
    this.organization_id = call.key.organization_id;
    this.scope = scopeOf(call.key);
    this.sketch = sketchOf(kind, call.body, this.scope);
    this.generation = deps.rules.generationOf(this.organization_id, call.model.id);
  }

  /**
   * Returns the entry of the same request. `isUsable` reads its answer; an entry whose answer must not
   * be sent again is removed.
   */
  find(isUsable: (entry: Entry) => boolean): StoredHit | undefined {
    const { organization_id } = this;
    if (!this.store.mayHave(organization_id, this.sketch)) return undefined;
    const request = this.identify();
    const now_ms = this.deps.now();
    const again = this.store.findAgain(organization_id, this.sketch, request, now_ms);
    const entry = again ?? this.findDigest();
    if (!entry) return undefined;
    if (!isUsable(entry)) {
      this.store.remove(entry);
      this.deps.shared?.remove(this.place);
      return undefined;
    }
    // The first hit reads the answer. Later hits of the same request seldom change the size.
    if (!again || entry.hits === 0) entry.remember(request);
    if (!again || entry.hits === 0 || entry.hasGrown) this.store.remeasure(entry);
    entry.hits += 1;
    return entry.hitAt(now_ms);
  }

  private findDigest(): Entry | undefined {
    const digest = this.digest();
    if (digest === null) return undefined;
    return this.store.find(this.organization_id, this.sketch, digest);
  }

  /** True if another replica may have the answer. */
  get mayLoad(): boolean {
    return this.deps.shared?.mayFind === true;
  }

  /** Puts the answer that another replica stored into the memory of this one, where `find` finds it. */
  async load(): Promise<void> {
    const { max_age_ms } = this.deps.settings();
    const { organization_id } = this;
    const value = await this.deps.shared?.find(this.place);
    const digest = value && this.digest();
    if (!value || typeof digest !== 'string') return;
    const { request_id, stored_at_ms, answer } = value;
    if (!this.mayStore(request_id) || this.deps.now() - stored_at_ms > max_age_ms) return;
    if (this.store.find(organization_id, this.sketch, digest)) return;
    this.add(request_id, stored_at_ms, answer, digest);
  }

  /** Stores the answer of the call, after it was charged. The answer must be fit to be sent again. */
  keep(answer: KeptAnswer): void {
    const { request_id, body_text } = this.call;
    if (!this.mayBeShared || answer.usage?.web_searches) return;
    if (!this.mayStore(request_id)) return;
    const stored_at_ms = this.deps.now();
    this.add(request_id, stored_at_ms, answer);
    this.deps.shared?.store(this.place, { request_id, stored_at_ms, answer }, body_text.length);
  }

  /** False if the answer of a request was removed, or if the entries were purged after the call began. */
  private mayStore(request_id: string): boolean {
    const { key, model } = this.call;
    const { rules } = this.deps;
    return (
      !rules.isRemoved(key.organization_id, request_id) &&
      rules.generationOf(key.organization_id, model.id) === this.generation
    );
  }

  private add(
    request_id: string,
    stored_at_ms: number,
    answer: KeptAnswer,
    known_digest?: string,
  ): void {
    this.store.add({
      request_id,
      organization_id: this.organization_id,
      sketch: this.sketch,
      stored_at_ms,
      request: this.identify(),
      answer,
      known_digest,
    });
  }

  private get place(): SharedPlace {
    const { organization_id } = this.call.key;
    return { organization_id, sketch: this.sketch, digest: () => this.digest() };
  }

  /** The digest of the request; null if the request has none. */
  digest(): string | null {
    this.digested ??= { digest: digestOf(this.identify()) ?? null };
    return this.digested.digest;
  }

  private identify(): RequestIdentity {
    const { model, headers, body_text, own } = this.call;
    this.identity ??= {
      place: {
        scope: this.scope,
        kind: this.kind,
        model_id: model.id,
        version: mappingVersion(model, this.deps.channels(), own),
        generation: this.generation,
        headers,
      },
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
