import type { Quotas } from '../../actors/money/quotas.ts';
import type { Reservation } from '../../actors/money/reservation.ts';
import type { ClientProtocol } from '../../protocols/names.ts';
import type { InferenceCall } from '../call.ts';
import type { SharedHeaders } from '../shared-headers.ts';
import type { Lookup } from './answer-cache.ts';
import { hitHeaders } from './cache-headers.ts';
import type { Entry, StoredHit } from './entry.ts';
import { hitPrice } from './hit-price.ts';
import type { KeptAnswer } from './kept-answer.ts';
import { readAnswer, renderAnswer } from './read-answer.ts';
import { settleHit } from './settle-hit.ts';

/** How the entries of a protocol are read. They are made once, because each call would make its own. */
const READERS: Record<ClientProtocol, ReturnType<typeof readersOf>> = {
  openai: readersOf('openai'),
  anthropic: readersOf('anthropic'),
  responses: readersOf('responses'),
  gemini: readersOf('gemini'),
};

function readersOf(protocol: ClientProtocol) {
  const read = (kept: KeptAnswer) => readAnswer(protocol, kept);
  return { read, isUsable: (entry: Entry) => entry.wholeAnswer(read) !== undefined };
}

/** Returns the stored answer of the same request; undefined if there is none. */
export function findAnswer({ protocol }: InferenceCall, lookup: Lookup): StoredHit | undefined {
  return lookup.find(READERS[protocol].isUsable);
}

/** Returns the answer of the same request that another replica stored; undefined if there is none. */
export async function findShared(
  call: InferenceCall,
  lookup: Lookup,
): Promise<StoredHit | undefined> {
  await lookup.load();
  return findAnswer(call, lookup);
}

/** What a call reserves that costs nothing, nano-USD. So a key without any money is refused all the same. */
const LEAST_NANO_USD = 1;

/**
 * Answers a chat call from memory with a hit that costs nothing: no price need be estimated, and no money
 * for it reserved. Returns undefined if the hit costs something, or if the key has no money at hand.
 */
export function serveFree(
  call: InferenceCall,
  quota: Pick<ReturnType<Quotas['getOrCreate']>, 'tryReserve'>,
  hit: StoredHit,
): Response | Promise<Response> | undefined {
  if (hitPrice(call.model, hit) > 0) return undefined;
  let reservation: Reservation | undefined;
  try {
    reservation = quota.tryReserve(LEAST_NANO_USD, call.request_id);
    if (!reservation) return undefined;
    call.record?.reserve(reservation.amount);
    return serveHit(call, reservation, hit);
  } catch (error) {
    reservation?.release();
    // The reservation of the whole price is refused too, with an error that names the price.
    if (!reservation) return undefined;
    throw error;
  }
}

/**
 * Answers a chat call from the cache: whole or as a stream, with ids of its own. Returns a promise only
 * if the hit must be charged, or if the answer must be stored.
 */
export function serveHit(
  call: InferenceCall,
  reservation: Reservation,
  hit: StoredHit,
): Response | Promise<Response> {
  const { protocol, stream } = call;
  const whole = hit.entry.wholeAnswer(READERS[protocol].read);
  if (!whole) throw new Error('a hit has no answer');
  const answer = renderAnswer(call, whole);
  const charged = settleHit(call, call.model.category, reservation, hit);
  const headers = hitHeaders(hit, stream);
  if (charged || answer.stored !== undefined) return storeFirst(call, answer, charged, headers);
  return headers.respond(answer.text, call.own_headers);
}

async function storeFirst(
  { storeAnswer, own_headers }: InferenceCall,
  { text, stored }: ReturnType<typeof renderAnswer>,
  charged: Promise<void> | undefined,
  headers: SharedHeaders,
): Promise<Response> {
  await charged;
  if (stored !== undefined) await storeAnswer?.(JSON.parse(stored));
  return headers.respond(text, own_headers);
}
