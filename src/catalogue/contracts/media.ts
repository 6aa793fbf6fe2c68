import { WeirError } from '../../errors/weir-error.ts';
import { invalidParameter } from './check.ts';

/** The largest inline file of any kind (spec: Limits, image file size). */
const MAX_INLINE_BYTES = 20 * 1024 * 1024;
const MAX_URL_CHARS = 4_096;

export type MediaKind = 'image' | 'video' | 'audio';

/** True for a `data:` URL. */
export const isInline = (reference: string): boolean => /^data:/i.test(reference);

/**
 * True for an http or https URL with a host and without user information. The address that the host
 * resolves to is checked when Weir fetches the URL.
 */
export function isPublicUrl(text: string): boolean {
  if (text.length > MAX_URL_CHARS) return false;
  const url = URL.parse(text);
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return false;
  return url.hostname !== '' && url.username === '' && url.password === '';
}

/**
 * Throws WeirError unless `reference` is a public URL or inline data of `kind`. Inline data is
 * refused if the model does not take it.
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

const DATA_URL_HEAD = /^data:([a-z]+)\/[a-z0-9.+-]+;base64,/i;
const MAX_HEAD_CHARS = 200;

function checkInline(reference: string, param: string, kind: MediaKind): void {
  const head = DATA_URL_HEAD.exec(reference.slice(0, MAX_HEAD_CHARS));
  if (head?.[1]?.toLowerCase() !== kind) {
    throw invalidParameter(param, `${param} must be a data: URL of a Base64 ${kind}.`);
  }
  const chars = reference.length - head[0].length;
  if (Math.floor((chars * 3) / 4) > MAX_INLINE_BYTES + 2) {
    throw new WeirError('payload_too_large', `${param} is larger than 20 MB.`, { param });
  }
  if (chars === 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(reference.slice(head[0].length))) {
    throw invalidParameter(param, `${param} is not valid Base64.`);
  }
}
