import {
  base64Bytes,
  isInline,
  MAX_INLINE_BYTES,
  tooLarge,
} from '../../catalogue/contracts/media.ts';
import { isObject } from '../../json/object.ts';
import type { ClientProtocol } from '../../protocols/names.ts';

type Body = Readonly<Record<string, unknown>>;

/** The members of a body that can have images. */
const INPUTS: Record<ClientProtocol, readonly string[]> = {
  openai: ['messages'],
  responses: ['input'],
  anthropic: ['messages', 'system'],
  gemini: ['contents', 'systemInstruction', 'system_instruction'],
};
/** The members of a message or part that can have further parts. */
const NESTED = ['content', 'output', 'parts', 'source', 'functionResponse', 'function_response'];

/**
 * Throws WeirError `payload_too_large` for the first inline image above 20 MB (spec: Limits). The
 * error names the image's path in the body. No image is decoded. If the whole body is too short for
 * such an image, Weir does not search it for images.
 */
export function refuseLargeImages(protocol: ClientProtocol, body: Body, body_text: string): void {
  if (base64Bytes(body_text) <= MAX_INLINE_BYTES) return;
  for (const name of INPUTS[protocol]) {
    const param = findLargeImage(body[name], name, protocol);
    if (param !== undefined) throw tooLarge(param);
  }
}

/** Returns the path of the first image that is too large; undefined if there is none. */
function findLargeImage(
  value: unknown,
  path: string,
  protocol: ClientProtocol,
): string | undefined {
  if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) {
      const inner = protocol === 'anthropic' ? `${path}.${index}` : `${path}[${index}]`;
      const found = findLargeImage(each, inner, protocol);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const own = largeImageOf(value);
  if (own !== undefined) return `${path}.${own}`;
  for (const name of NESTED) {
    const found = findLargeImage(value[name], `${path}.${name}`, protocol);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the path of the image inside a part, if the part is an image that is too large. */
function largeImageOf(part: Body): string | undefined {
  const { image_url, source } = part;
  if (isLargeUrl(image_url)) return 'image_url';
  if (isObject(image_url) && isLargeUrl(image_url['url'])) return 'image_url.url';
  if (part['type'] === 'image' && isObject(source) && isLarge(source['data'])) return 'source.data';
  for (const name of ['inlineData', 'inline_data']) {
    const data = part[name];
    if (isObject(data) && isImage(data) && isLarge(data['data'])) return `${name}.data`;
  }
  return undefined;
}

/** True for inline data of Gemini that is an image. */
function isImage(data: Body): boolean {
  return /^image\//i.test(String(data['mimeType'] ?? data['mime_type']));
}

function isLargeUrl(url: unknown): boolean {
  return typeof url === 'string' && isInline(url) && isLarge(url, url.indexOf(',') + 1);
}

function isLarge(base64: unknown, start = 0): boolean {
  return typeof base64 === 'string' && base64Bytes(base64, start) > MAX_INLINE_BYTES;
}
