import type { Reservation } from '../../actors/money/reservation.ts';
import type { DirectModel } from '../../catalogue/catalogue.ts';
import type { CacheControl } from '../../protocols/cache-controls.ts';
import type { CallRecord } from '../records/call-record.ts';
import type { AnswerCache, Lookup } from './answer-cache.ts';
import { addHit, type CacheState } from './cache-headers.ts';
import type { CachedKind } from './neutral-ids.ts';
import { settleHit } from './settle-hit.ts';

/** The part of a direct call that the cache needs. */
export interface DirectCache {
  readonly kind: Exclude<CachedKind, 'openai' | 'anthropic' | 'responses' | 'gemini'>;
  /** The request, if it is not the body of the call. */
  readonly request?: Readonly<Record<string, unknown>> | undefined;
  readonly control: CacheControl | undefined;
  /** Set when the call has ended: what the cache did, for the headers of the answer. */
  outcome?: { readonly state: CacheState; readonly entry_id?: string; readonly age_s?: number };
}

interface CachedCall {
  readonly request_id: string;
  readonly key: { readonly id: string; readonly organization_id: string };
  readonly model: DirectModel;
  readonly body: Readonly<Record<string, unknown>>;
  readonly body_text: string;
  readonly record?: CallRecord | undefined;
  readonly cached?: DirectCache | undefined;
}

/** Returns the place of a direct call in the cache; undefined if the call bypasses the cache. */
export function openDirectCache(
  cache: AnswerCache | undefined,
  { request_id, key, model, body, body_text, cached }: CachedCall,
): Lookup | undefined {
  if (!cached) return undefined;
  const { kind, request, control } = cached;
  const sent = request
    ? { body: request, body_text: JSON.stringify(request) }
    : { body, body_text };
  const lookup = cache?.open({ kind, request_id, key, model, control, headers: {}, ...sent });
  cached.outcome = { state: lookup ? 'miss' : 'bypass' };
  return lookup;
}

/** Returns the stored answer of the same request, after its charge; undefined if there is none. */
export async function answerFromCache(
  call: CachedCall,
  scene: string,
  lookup: Lookup,
  reservation: Reservation,
): Promise<{ readonly answer: unknown } | undefined> {
  const hit = lookup.find(() => true);
  if (!hit) return undefined;
  await settleHit(call, scene, reservation, hit);
  const { entry, entry_id, age_s } = hit;
  if (call.cached) call.cached.outcome = { state: 'hit', entry_id, age_s };
  return { answer: JSON.parse(entry.text) };
}

/** Adds the headers that say what the cache did. */
export function addCacheHeaders(headers: Headers, { outcome }: DirectCache): void {
  if (!outcome) return;
  headers.set('x-weir-cache', outcome.state);
  if (outcome.entry_id !== undefined) addHit(headers, outcome.entry_id, outcome.age_s ?? 0);
}
