import type { Hit } from './hit.ts';

/** What the cache did for a call. `semantic` is kept for a cache of similar requests. */
export type CacheState = 'hit' | 'miss' | 'bypass';

const TYPES = { whole: 'application/json', stream: 'text/event-stream; charset=utf-8' };

/** These objects are created once, and each response copies its headers. */
const HEADERS = {
  miss: { whole: headersOf('whole', 'miss'), stream: headersOf('stream', 'miss') },
  bypass: { whole: headersOf('whole', 'bypass'), stream: headersOf('stream', 'bypass') },
};

function headersOf(form: 'whole' | 'stream', state: CacheState): { headers: Headers } {
  const headers = new Headers({ 'content-type': TYPES[form], 'x-weir-cache': state });
  if (form === 'stream') headers.set('cache-control', 'no-cache');
  return { headers };
}

/** Returns the headers of a chat answer that comes from an upstream. */
export function answerHeaders(lookup: object | undefined, isStream: boolean): { headers: Headers } {
  return HEADERS[lookup ? 'miss' : 'bypass'][isStream ? 'stream' : 'whole'];
}

/** Returns the headers of a chat answer that comes from the cache. */
export function hitHeaders(hit: Hit, isStream: boolean): { readonly headers: Headers } {
  const form = isStream ? 'stream' : 'whole';
  hit.made ??= {};
  let made = hit.made[form];
  if (!made) {
    made = headersOf(form, 'hit');
    addHit(made.headers, hit.entry_id, hit.age_s);
    hit.made[form] = made;
  }
  return made;
}

/** Adds the headers that describe an entry. `age_s` is its age, seconds (RFC 9111: Age). */
export function addHit(headers: Headers, entry_id: string, age_s: number): void {
  headers.set('x-weir-cache-entry-id', entry_id);
  headers.set('age', String(age_s));
}
