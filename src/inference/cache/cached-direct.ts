import type { OwnServing } from '../../actors/channels/own-keys.ts';
import type { ListenableSignal } from '../../actors/money/admission-queue.ts';
import type { Reservation } from '../../actors/money/reservation.ts';
import type { DirectModel } from '../../catalogue/catalogue.ts';
import type { CacheControl } from '../../protocols/cache-controls.ts';
import type { BytesInFlight } from '../../upstreams/transport/body-budget.ts';
import type { CallRecord } from '../records/call-record.ts';
import type { AnswerCache, CacheCaller, Lookup } from './answer-cache.ts';
import { addHit, type CacheState } from './cache-headers.ts';
import { type Flight, type Follower, hitOf } from './flight.ts';
import type { Flights } from './flights.ts';
import type { CachedKind } from './neutral-ids.ts';
import { payUnpaid } from './pay-unpaid.ts';
import { settleHit } from './settle-hit.ts';

/** How the cache treats a direct call. */
export interface DirectCache {
  readonly kind: Exclude<CachedKind, 'openai' | 'anthropic' | 'responses' | 'gemini'>;
  /** The request, if it is not the body of the call. */
  readonly request?: Readonly<Record<string, unknown>> | undefined;
  readonly control: CacheControl | undefined;
  /** Set when the call has ended: what the cache did, for the headers of the answer. */
  outcome?: { readonly state: CacheState; readonly entry_id?: string; readonly age_s?: number };
}

/** The part of a direct call that the cache needs. */
export interface CachedCall {
  readonly request_id: string;
  readonly key: CacheCaller;
  readonly model: DirectModel;
  readonly body: Readonly<Record<string, unknown>>;
  readonly body_text: string;
  readonly record?: CallRecord | undefined;
  readonly cached?: DirectCache | undefined;
  /** The own keys that serve the call. */
  readonly own?: OwnServing | undefined;
  readonly signal: ListenableSignal;
  readonly bytes: BytesInFlight;
}

/** A direct call that follows another one. */
export type DirectFollower = Follower<CachedCall>;

/** Returns the place of a direct call in the cache; undefined if the call bypasses the cache. */
export function openDirectCache(
  cache: AnswerCache | undefined,
  { request_id, key, model, body, body_text, record, cached, own }: CachedCall,
): Lookup | undefined {
  if (!cached) return undefined;
  const { kind, request, control } = cached;
  const sent = request
    ? { body: request, body_text: JSON.stringify(request) }
    : { body, body_text };
  const lookup = cache?.open(kind, { request_id, key, model, headers: {}, own, ...sent }, control);
  if (lookup && record) record.looked_up = true;
  cached.outcome = { state: lookup ? 'miss' : 'bypass' };
  return lookup;
}

/** Returns the stored answer of the same request, after its charge; undefined if there is none. */
export async function answerFromCache(
  call: CachedCall,
  scene: string,
  lookup: Lookup,
  reservation: Reservation,
  flights: Flights<DirectFollower>,
): Promise<{ readonly answer: unknown } | undefined> {
  let hit = lookup.find(() => true);
  if (!hit && lookup.mayLoad && !flights.find(lookup)) {
    await lookup.load();
    hit = lookup.find(() => true);
  }
  if (!hit) return undefined;
  await settleHit(call, scene, reservation, hit);
  const { entry, entry_id, age_s } = hit;
  if (call.cached) call.cached.outcome = { state: 'hit', entry_id, age_s };
  return { answer: JSON.parse(entry.text) };
}

/**
 * Returns the answer of an identical call that runs, after this call's own charge. Resolves with
 * undefined if the other call failed. Throws the signal's reason if the client leaves.
 */
export async function followDirect(
  flight: Flight<DirectFollower>,
  follower: DirectFollower,
  scene: string,
  lookup: Lookup,
): Promise<{ readonly answer: unknown } | undefined> {
  const { call, reservation } = follower;
  flight.join(follower);
  try {
    while (!flight.end) {
      const unpaid = flight.takeUnpaid();
      if (unpaid) {
        const { text } = await payUnpaid(flight, follower, lookup, unpaid);
        return { answer: JSON.parse(text) };
      }
      await flight.changed(call.signal);
    }
    if (flight.end.state === 'failed') return undefined;
    const { text, cost_nano_usd } = flight.end.kept;
    const hit = hitOf(flight, cost_nano_usd);
    await settleHit(call, scene, reservation, hit);
    if (call.cached) call.cached.outcome = { state: 'hit', ...hit };
    return { answer: JSON.parse(text) };
  } finally {
    flight.leave(follower);
  }
}

/** Adds the headers that say what the cache did. */
export function addCacheHeaders(headers: Headers, { outcome }: DirectCache): void {
  if (!outcome) return;
  headers.set('x-weir-cache', outcome.state);
  if (outcome.entry_id !== undefined) addHit(headers, outcome.entry_id, outcome.age_s ?? 0);
}
