import { WeirError } from '../errors/weir-error.ts';
import type { CallSignal } from '../upstreams/contract.ts';
import { type Watched, watch } from '../upstreams/transport/deadlines.ts';
import { checkJsonShape } from './json-shape.ts';

/**
 * The largest body of an inference request. Anthropic has the same limit for messages (Anthropic
 * docs: Errors, 413).
 */
export const MAX_INFERENCE_BODY_BYTES = 32 * 1024 * 1024;
export const MAX_MANAGEMENT_BODY_BYTES = 64 * 1024;
/**
 * A body must arrive within this time. It is enough for the largest body over a slow connection.
 */
const BODY_TIMEOUT_MS = 120_000;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** A JSON body: its text, and the parsed object. */
export interface JsonBody {
  text: string;
  value: Record<string, unknown>;
}

/**
 * Reads a JSON object. Throws WeirError `unsupported_media_type`, `payload_too_large` or
 * `invalid_json`. A body that is not UTF-8, too slow, not an object, or that exceeds a limit of
 * `JsonShape` gets `invalid_json` too. Throws the signal's reason if the signal is aborted before the body is
 * complete.
 */
export async function readJsonObject(
  request: Request,
  maxBytes: number,
  signal: CallSignal = request.signal,
): Promise<JsonBody> {
  return parseJsonObject(await readJsonBytes(request, maxBytes, signal), request.headers);
}

/** Parses the bytes of a body as a JSON object. Throws WeirError like `readJsonObject`. */
export function parseJsonObject(bytes: Uint8Array, headers: Headers): JsonBody {
  const text = decode(bytes, headers);
  checkJsonShape(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidBody('The body is not valid JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidBody('The body must be a JSON object.');
  }
  return { text, value: value as Record<string, unknown> };
}

/**
 * Reads the bytes of a body whose content type is JSON, without parsing them. Throws WeirError if
 * the content type is wrong, or if the body is too large or too slow. Throws the signal's reason if
 * the signal is aborted before the body is complete.
 */
export function readJsonBytes(
  request: Request,
  maxBytes: number,
  signal: CallSignal = request.signal,
  timeout_ms = BODY_TIMEOUT_MS,
): Promise<Uint8Array> {
  requireJson(request.headers);
  const content_length = request.headers.get('content-length');
  if (content_length !== null && Number(content_length) > maxBytes) throw tooLarge(maxBytes);
  const body = content_length === null ? readChunks(request, maxBytes) : request.bytes();
  return withTimeout(body, timeout_ms, signal);
}

function requireJson(headers: Headers): void {
  const type = headers.get('content-type');
  if (!type || !/^application\/(json|[\w.-]+\+json)\s*(;|$)/i.test(type)) {
    throw new WeirError('unsupported_media_type', 'The body must be JSON.', {
      param: 'Content-Type',
      hint: 'Send the header Content-Type: application/json.',
    });
  }
}

/**
 * Reads a body without a content length. It stops reading at the limit, so that no larger body is
 * in memory.
 */
async function readChunks(request: Request, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * Rejects if the body is incomplete after the timeout. So a slow client cannot hold its connection
 * for long.
 */
function withTimeout(
  body: Promise<Uint8Array>,
  timeout_ms: number,
  signal: CallSignal,
): Promise<Uint8Array> {
  if (Bun.peek.status(body) !== 'pending') return body;
  return new Promise((resolve, reject) => {
    watch(new PendingBody(performance.now() + timeout_ms, body, signal, reject));
    body.then(resolve, reject);
  });
}

/**
 * The wait for a body that has not arrived yet. `withTimeout` creates no wait for a body that is
 * already complete.
 */
class PendingBody implements Watched {
  constructor(
    private readonly deadline: number,
    private readonly body: Promise<unknown>,
    private readonly signal: CallSignal,
    private readonly reject: (error: unknown) => void,
  ) {}

  check(now: number): boolean {
    if (Bun.peek.status(this.body) !== 'pending') return false;
    if (this.signal.aborted) this.reject(this.signal.reason);
    else if (now < this.deadline) return true;
    else this.reject(invalidBody('The body did not arrive in time.'));
    return false;
  }
}

function decode(bytes: Uint8Array, headers: Headers): string {
  try {
    return utf8.decode(bytes);
  } catch {
    // Compressed bytes are almost never UTF-8. So `Content-Encoding` is read only if the bytes are
    // not UTF-8.
    const encoding = headers.get('content-encoding')?.toLowerCase() ?? 'identity';
    if (encoding === 'identity') throw invalidBody('The body is not valid UTF-8.');
    throw new WeirError('unsupported_media_type', 'The body must not be compressed.', {
      param: 'Content-Encoding',
    });
  }
}

function invalidBody(message: string): WeirError {
  return new WeirError('invalid_json', message, { param: 'body' });
}

function tooLarge(maxBytes: number): WeirError {
  const megabytes = maxBytes / 1024 / 1024;
  const limit = megabytes >= 1 ? `${megabytes} MB` : `${maxBytes / 1024} kB`;
  return new WeirError('payload_too_large', `The body is larger than ${limit}.`, { param: 'body' });
}
