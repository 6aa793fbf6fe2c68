import { WeirError } from '../../errors/weir-error.ts';
import { hasInternalHost, hostAndPort } from '../../storage/internal-host.ts';
import { invalidParameter } from './check.ts';

/** The largest inline file of any kind (spec: Limits, image file size). */
export const MAX_INLINE_BYTES = 20 * 1024 * 1024;
const MAX_URL_CHARS = 4_096;

export type MediaKind = 'image' | 'video' | 'audio';

/** True if a reference is inline data, i.e. a `data:` URL. */
export const isInline = (reference: string): boolean => /^data:/i.test(reference);

/**
 * True for an http or https URL without a user name or password, whose host is neither `localhost`
 * nor an internal IP address. A name is resolved and checked later, when Weir fetches the URL.
 * `allow_hosts` are internal hosts that the operator allowed, as `host:port`.
 */
export function isPublicUrl(text: string, allow_hosts?: ReadonlySet<string>): boolean {
  if (text.length > MAX_URL_CHARS) return false;
  const url = URL.parse(text);
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return false;
  if (url.hostname === '' || url.username !== '' || url.password !== '') return false;
  return !hasInternalHost(url) || allow_hosts?.has(hostAndPort(url)) === true;
}

/**
 * Throws WeirError if `reference` is neither a public URL nor inline data of `kind`, or if it is
 * inline data and `allowsInline` is false.
 */
export function checkReference(
  reference: string,
  param: string,
  kind: MediaKind,
  allowsInline: boolean,
): void {
  if (isInline(reference)) {
    if (!allowsInline) {
      throw invalidParameter(param, `${param} must be a URL; this model takes no inline data.`);
    }
    checkInline(reference, param, kind);
    return;
  }
  if (!isPublicUrl(reference)) {
    throw invalidParameter(
      param,
      `${param} must be a public https URL${allowsInline ? ' or a data: URL' : ''}.`,
    );
  }
}

/** Returns the error for an inline file above `MAX_INLINE_BYTES` (spec: Limits). */
export function tooLarge(param: string): WeirError {
  return new WeirError('payload_too_large', `${param} is larger than 20 MB.`, { param });
}

/** Returns how many bytes the Base64 text from `start` to the end encodes. Does not decode it. */
export function base64Bytes(text: string, start = 0): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return Math.floor(((text.length - start - padding) * 3) / 4);
}

const DATA_URL_HEAD = /^data:([a-z]+)\/[a-z0-9.+-]+;base64,/i;
const MAX_HEAD_CHARS = 200;

function checkInline(reference: string, param: string, kind: MediaKind): void {
  const head = DATA_URL_HEAD.exec(reference.slice(0, MAX_HEAD_CHARS));
  if (head?.[1]?.toLowerCase() !== kind) {
    throw invalidParameter(param, `${param} must be a data: URL of a Base64 ${kind}.`);
  }
  const chars = reference.length - head[0].length;
  if (base64Bytes(reference, head[0].length) > MAX_INLINE_BYTES) throw tooLarge(param);
  if (chars === 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(reference.slice(head[0].length))) {
    throw invalidParameter(param, `${param} is not valid Base64.`);
  }
}
