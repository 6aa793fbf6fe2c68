import { guardedFetch } from '../../storage/guarded-fetch.ts';
import { imageTypeOf } from '../../storage/image-type.ts';
import { TerminalUpstreamError } from '../contract.ts';

/** Largest input image (spec: Limits). */
const MAX_IMAGE_BYTES = 20 * 1024 * 1024;
const FETCH_TIMEOUT_MS = 30_000;

export interface InlineMedia {
  readonly mime_type: string;
  readonly base64: string;
}

/**
 * Returns an image as Base64, for providers that accept no URLs. A `data:` URI is decoded. A URL is
 * downloaded from the public internet only. Throws TerminalUpstreamError if the image cannot be
 * read.
 */
export async function inlineImage(reference: string, signal: AbortSignal): Promise<InlineMedia> {
  const [, mime_type, base64] = /^data:([^;,]+);base64,(.*)$/s.exec(reference) ?? [];
  if (mime_type && base64) return { mime_type, base64 };
  try {
    const options = { max_bytes: MAX_IMAGE_BYTES, timeout_ms: FETCH_TIMEOUT_MS, signal };
    const { status, content_type, stream } = await guardedFetch(reference, options);
    if (status !== 200) throw new Error(`the image's server answered ${status}`);
    const bytes = Buffer.from(await new Response(stream).arrayBuffer());
    return {
      mime_type: imageTypeOf(bytes) ?? (content_type.split(';')[0] || 'image/png'),
      base64: bytes.toString('base64'),
    };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const message = 'An input image could not be fetched.';
    throw Object.assign(new TerminalUpstreamError('invalid_request', message, 'image_url', 400), {
      cause: error,
    });
  }
}
