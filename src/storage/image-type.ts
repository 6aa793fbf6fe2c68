/** How many bytes at the start of an image tell its type. */
export const IMAGE_HEAD_BYTES = 12;

/**
 * Returns the media type of an image by its first bytes; undefined for other bytes (PNG and GIF
 * specifications; JFIF; RFC 9649 for WebP).
 */
export function imageTypeOf(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, IMAGE_HEAD_BYTES)).toString('latin1');
  if (head.startsWith('\u0089PNG\r\n\u001a\n')) return 'image/png';
  if (head.startsWith('\u00ff\u00d8\u00ff')) return 'image/jpeg';
  if (head.startsWith('RIFF') && head.endsWith('WEBP')) return 'image/webp';
  return /^GIF8[79]a/.test(head) ? 'image/gif' : undefined;
}
