import type { ClientProtocol } from '../../protocols/names.ts';
import { SharedHeaders } from '../shared-headers.ts';
import type { Hit } from './hit.ts';

/** What the cache did for a call. `semantic` is kept for a cache of similar requests. */
export type CacheState = 'hit' | 'miss' | 'bypass';

const TYPES = { whole: 'application/json', stream: 'text/event-stream; charset=utf-8' };
type Form = keyof typeof TYPES;

/** Each protocol has headers of its own, because it names limits in its own way. */
const ANSWERS: Record<ClientProtocol, ReturnType<typeof answersOfProtocol>> = {
  openai: answersOfProtocol(),
  anthropic: answersOfProtocol(),
  responses: answersOfProtocol(),
  gemini: answersOfProtocol(),
};

function answersOfProtocol() {
  const sharedOf = (form: Form, state: CacheState) => new SharedHeaders(headersOf(form, state));
  return {
    miss: { whole: sharedOf('whole', 'miss'), stream: sharedOf('stream', 'miss') },
    bypass: { whole: sharedOf('whole', 'bypass'), stream: sharedOf('stream', 'bypass') },
  };
}

function headersOf(form: Form, state: CacheState): Headers {
  const headers = new Headers({ 'content-type': TYPES[form], 'x-weir-cache': state });
  if (form === 'stream') headers.set('cache-control', 'no-cache');
  return headers;
}

/** Returns the headers of a chat answer that comes from an upstream. */
export function answerHeaders(
  protocol: ClientProtocol,
  lookup: object | undefined,
  isStream: boolean,
): SharedHeaders {
  return ANSWERS[protocol][lookup ? 'miss' : 'bypass'][isStream ? 'stream' : 'whole'];
}

/** Returns the headers of a chat answer that comes from the cache. */
export function hitHeaders(hit: Hit, isStream: boolean): SharedHeaders {
  const form = isStream ? 'stream' : 'whole';
  hit.made ??= {};
  let made = hit.made[form];
  if (!made) {
    const headers = headersOf(form, 'hit');
    addHit(headers, hit.entry_id, hit.age_s);
    made = new SharedHeaders(headers);
    hit.made[form] = made;
  }
  return made;
}

/** Adds the headers that describe an entry. `age_s` is its age, seconds (RFC 9111: Age). */
export function addHit(headers: Headers, entry_id: string, age_s: number): void {
  headers.set('x-weir-cache-entry-id', entry_id);
  headers.set('age', String(age_s));
}
