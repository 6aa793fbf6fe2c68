import { type AnswerCount, RetryableUpstreamError } from '../contract.ts';
import type { HttpResponse } from './http.ts';

/** The most bytes of an answer's body. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/**
 * Called with the size of each piece of a body, bytes. If it returns a promise, the next piece is
 * read after the promise has resolved.
 */
export type OnPiece = (bytes: number) => void | Promise<void>;

/** The most bytes of an error response's body. Such bodies contain only a message. */
export const MAX_ERROR_BYTES = 1024 * 1024;

/**
 * Returns the whole body as text, and counts its bytes in `counted`. Throws RetryableUpstreamError
 * if the body is larger than `max_bytes`, and WeirError (503) if the budget has no room for the
 * body.
 */
export function readText(
  response: HttpResponse,
  max_bytes: number,
  counted?: AnswerCount,
): Promise<string> {
  const body_bytes = response.body_bytes ?? lengthIn(response.headers);
  if (body_bytes === undefined) {
    return readBytes(response, max_bytes, (bytes) => counted?.add(bytes)).then((all) =>
      new TextDecoder().decode(all),
    );
  }
  if (body_bytes > max_bytes) throw tooLargeError();
  counted?.add(body_bytes);
  return response.text();
}

/**
 * Returns the exact length of a body by its headers, bytes. Undefined if it is known only after
 * reading: a compressed body, for example, is longer than its `Content-Length`.
 */
function lengthIn(headers: HttpResponse['headers']): number | undefined {
  const content_length = headers.get('content-length');
  const isExact = !headers.has('content-encoding') && !headers.has('transfer-encoding');
  return content_length !== null && isExact ? Number(content_length) : undefined;
}

/** Returns the whole body. Throws like `readText`. */
export async function readBytes(
  response: HttpResponse,
  max_bytes: number,
  onPiece?: OnPiece,
): Promise<Uint8Array<ArrayBuffer>> {
  const start = await readStart(response, max_bytes + 1, onPiece);
  if (start.byteLength > max_bytes) throw tooLargeError();
  return start;
}

/** Returns the first `max_bytes` of the body. Later bytes are not read. */
export async function readStart(
  { body }: HttpResponse,
  max_bytes: number,
  onPiece?: OnPiece,
): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  const reader = body?.getReader();
  while (reader && bytes < max_bytes) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.byteLength;
    await onPiece?.(value.byteLength);
    pieces.push(value);
  }
  return Buffer.concat(pieces, Math.min(bytes, max_bytes));
}

/** Returns the error for a body that is larger than its limit. */
export function tooLargeError(): RetryableUpstreamError {
  return new RetryableUpstreamError('malformed', 'the answer is too large');
}
