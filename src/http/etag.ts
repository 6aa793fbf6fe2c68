import { WeirError } from '../errors/weir-error.ts';
import { canonicalJson } from '../json/canonical.ts';

const HEADER = 'If-Match';
const HASH_CHARS = 22;
/** An entity tag (RFC 9110, 8.8.3). */
const TAG = /(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/g;

/**
 * Returns the entity tag of an object's settings (RFC 9110, 8.8.3). `settings` has the members that
 * clients can change, and no others. So a call that changes `used_amount` does not change the tag, and
 * an administrator can still send what he edited meanwhile.
 */
export function etagOf(settings: object): string {
  const hash = new Bun.CryptoHasher('sha256').update(canonicalJson(settings)).digest('base64url');
  return `"${hash.slice(0, HASH_CHARS)}"`;
}

/** Adds the entity tag of the settings to a response, and returns the response. */
export function withEtag(response: Response, settings: object): Response {
  response.headers.set('etag', etagOf(settings));
  return response;
}

/**
 * Throws WeirError if the request has `If-Match`, and the settings are not those that the client read:
 * `precondition_failed`, or `invalid_request` if the header is malformed (RFC 9110, 13.1.1). Call it in
 * the transaction of the change, after the row was locked. Otherwise two requests could both match.
 */
export function requireMatch({ headers }: Request, settings: object): void {
  const expected = headers.get(HEADER);
  if (expected === null || expected.trim() === '*') return;
  const tags = [...expected.matchAll(TAG)].map(([, opaque]) => `"${opaque}"`);
  if (tags.length === 0 || !/^[\s,]*$/.test(expected.replaceAll(TAG, ''))) {
    throw new WeirError('invalid_request', `${HEADER} must be an entity tag or *.`, {
      param: HEADER,
      hint: 'Send the ETag of the answer that you edited, with its quotation marks.',
    });
  }
  // `W/` is ignored, although RFC 9110 compares such a tag as different. Proxies that compress an
  // answer, e.g. nginx, add it, and the tag stands for the settings, not for the bytes of the answer.
  if (tags.includes(etagOf(settings))) return;
  throw new WeirError('precondition_failed', 'Somebody changed this object after you read it.', {
    param: HEADER,
    hint: 'GET the object again, repeat your change, and send the new ETag.',
  });
}
