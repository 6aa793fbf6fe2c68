import { WeirError } from '../errors/weir-error.ts';
import type { CallSignal } from '../upstreams/contract.ts';
import type { BytesInFlight } from '../upstreams/transport/body-budget.ts';
import { inTurn } from '../upstreams/transport/turns.ts';
import { readBodyBytes } from './body-bytes.ts';
import { contentCodingOf, REQUEST_CODINGS } from './decoded-body.ts';
import { checkJsonShape } from './json-shape.ts';

/**
 * The largest body of an inference request. Anthropic has the same limit for messages (Anthropic
 * docs: Errors, 413).
 */
export const MAX_INFERENCE_BODY_BYTES = 32 * 1024 * 1024;
export const MAX_MANAGEMENT_BODY_BYTES = 64 * 1024;

/** Larger bodies are parsed one after the other. Parsing one of this size takes a few ms. */
const MAX_BYTES_AT_ONCE = 1024 * 1024;

const utf8 = new TextDecoder('utf-8', { fatal: true });
/** Reads the start of a text, whose last character may be cut. */
const lenientUtf8 = new TextDecoder();

/** A JSON body: its text, and the parsed object. */
export interface JsonBody {
  text: string;
  value: Record<string, unknown>;
}

/**
 * Reads a JSON object, and counts its bytes. Throws WeirError: `unsupported_media_type`;
 * `payload_too_large`; `service_unavailable` if there is no room for the body; `invalid_json` if
 * the body is not a JSON object in UTF-8, arrives too slowly, or exceeds a limit of `JsonShape`.
 * Throws the signal's reason if the signal is aborted before the body is complete.
 */
export async function readJsonObject(
  request: Request,
  counted: BytesInFlight,
  max_bytes: number,
  signal: CallSignal = request.signal,
): Promise<JsonBody> {
  const bytes = await readJsonBytes(request, counted, max_bytes, signal);
  return parseJsonBytes(bytes, request.headers);
}

/**
 * Parses the bytes that `readJsonBytes` read. Returns a promise only for a large body, which waits for its
 * turn. Throws WeirError `invalid_json`, or `unsupported_media_type` for a content coding that is not known.
 */
export function parseJsonBytes(bytes: Uint8Array, headers: Headers): JsonBody | Promise<JsonBody> {
  if (bytes.byteLength <= MAX_BYTES_AT_ONCE) return parseObject(decode(bytes, headers));
  return inTurn(() => decode(bytes, headers)).then((text) => inTurn(() => parseObject(text)));
}

/** Reads a JSON object like `readJsonObject`. A request without a body has an empty object. */
export function readOptionalObject(
  request: Request,
  counted: BytesInFlight,
  max_bytes: number,
): Promise<JsonBody> {
  if (request.body === null) return Promise.resolve({ text: '', value: {} });
  return readJsonObject(request, counted, max_bytes);
}

/** Parses a body as a JSON object. Throws WeirError like `readJsonObject`. */
function parseObject(text: string): JsonBody {
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
 * Reads the bytes of a body whose content type is JSON, without parsing them, and counts them.
 * Throws WeirError if the content type is wrong, if the body is too large or too slow, or if there
 * is no room for it. Throws the signal's reason if the signal is aborted before the body is
 * complete.
 */
export function readJsonBytes(
  request: Request,
  counted: BytesInFlight,
  max_bytes: number,
  signal: CallSignal = request.signal,
  timeout_ms?: number,
): Promise<Uint8Array> {
  requireJson(request.headers);
  return readBodyBytes(request, { max_bytes, tooLarge, checkStart, counted, signal, timeout_ms });
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

/** Refuses e.g. 31 MB of brackets before all of them have arrived. */
function checkStart(start: Uint8Array): void {
  checkJsonShape(lenientUtf8.decode(start));
}

function decode(bytes: Uint8Array, headers: Headers): string {
  try {
    return utf8.decode(bytes);
  } catch {
    const encoding = headers.get('content-encoding')?.toLowerCase() ?? 'identity';
    if (encoding === 'identity' || contentCodingOf(headers) !== undefined) {
      throw invalidBody('The body is not valid UTF-8.');
    }
    throw new WeirError('unsupported_media_type', 'The body has an unknown content coding.', {
      param: 'Content-Encoding',
      hint: `Use one of ${REQUEST_CODINGS.join(', ')}, or do not compress the body.`,
    });
  }
}

function invalidBody(message: string): WeirError {
  return new WeirError('invalid_json', message, { param: 'body' });
}

function tooLarge(max_bytes: number): WeirError {
  const megabytes = max_bytes / 1024 / 1024;
  const limit = megabytes >= 1 ? `${megabytes} MB` : `${max_bytes / 1024} kB`;
  return new WeirError('payload_too_large', `The body is larger than ${limit}.`, { param: 'body' });
}
