import { digitsAsText } from '../../json/exact-integers.ts';
import { isObject } from '../../json/object.ts';
import {
  MAX_ANSWER_BYTES,
  MAX_ERROR_BYTES,
  readBytes,
  readStart,
} from '../transport/bounded-body.ts';
import { Exchange } from '../transport/exchange.ts';
import { UnsentRequestError } from '../transport/http.ts';
import { jsonBody } from '../transport/request-body.ts';
import type { JobCall } from './contract.ts';
import { countAnswer } from './counted-answer.ts';
import { readEventAnswer } from './event-answer.ts';
import { isOwnAddress } from './own-address.ts';

export type JsonObject = Record<string, unknown>;

/** One request to a provider. A FormData `body` is sent as multipart; any other body as JSON. */
export interface ProviderRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** A path below the target's base URL, or a complete URL that the provider gave. */
  readonly path: string;
  /**
   * A domain whose hosts all belong to the provider (see `isOwnAddress`). Set only for a provider
   * that documents URLs on several hosts of its domain.
   */
  readonly own_domain?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: JsonObject | FormData;
  /** Receives each event of an answer that arrives as server-sent events. */
  readonly onEvent?: (event: JsonObject) => void;
}

export interface ProviderAnswer {
  readonly status: number;
  readonly headers: Pick<Headers, 'get'>;
  /**
   * The parsed body, or the last event of a body of events. It is `{}` if the body is not a JSON
   * object.
   */
  readonly body: JsonObject;
  readonly bytes: Uint8Array;
}

/**
 * Sends a request to a provider and reads the response of any status. The body of an error response
 * is read only up to MAX_ERROR_BYTES, so that a longer body does not hide the status. `may_repeat`
 * tells whether the request may be sent again if its connection turns out to be closed.
 *
 * Throws UnsentRequestError if the provider certainly received nothing, the signal's reason if the
 * signal was aborted, and otherwise RetryableUpstreamError.
 */
export async function requestProvider(
  call: JobCall,
  { method = 'GET', path, own_domain, headers, body, onEvent }: ProviderRequest,
  may_repeat: boolean,
): Promise<ProviderAnswer> {
  const url = addressOf(call, path, own_domain);
  const encoded = body && !(body instanceof FormData) ? jsonBody(JSON.stringify(body)) : body;
  const exchange = new Exchange(call);
  try {
    const response = await exchange.send({
      ...{ method, url, headers, body: encoded, may_repeat, pool: 'jobs' },
    });
    const { status, headers: response_headers } = response;
    if (onEvent && response.ok && EVENTS.test(response_headers.get('content-type') ?? '')) {
      const onPiece = countAnswer(response, call.bytes, call.signal);
      const last = await readEventAnswer(response, onPiece, onEvent);
      exchange.markComplete();
      const is_error = last['error'] !== undefined;
      const body = is_error ? objectIn(valueIn(exchange.redact(JSON.stringify(last)))) : last;
      return { status, headers: response_headers, body, bytes: new Uint8Array() };
    }
    const bytes = response.ok
      ? await readBytes(response, MAX_ANSWER_BYTES, countAnswer(response, call.bytes, call.signal))
      : await readStart(response, MAX_ERROR_BYTES);
    // The rest of an error response above the limit is not read, so its connection is closed.
    if (response.ok || bytes.byteLength < MAX_ERROR_BYTES) exchange.markComplete();
    const isMedia = MEDIA.test(response_headers.get('content-type') ?? '');
    const content = isMedia ? { bytes, body: {} } : readable(exchange, bytes, response.ok);
    return { status, headers: response_headers, ...content };
  } catch (error) {
    throw error instanceof UnsentRequestError ? error : exchange.toUpstreamError(error);
  } finally {
    exchange.close();
  }
}

const EVENTS = /^text\/event-stream\b/;
const MEDIA = /^(?:image|video|audio)\//;

/**
 * Returns the bytes and the parsed body of a response, without the credentials that the provider
 * received. Two things are returned unchanged. One is a successful response of more than
 * MAX_ERROR_BYTES: it is a result, not the text of a failure. The other is any URL in a successful
 * response, because Weir needs the exact URL.
 */
function readable(
  exchange: Exchange,
  bytes: Uint8Array,
  ok: boolean,
): Pick<ProviderAnswer, 'bytes' | 'body'> {
  const text = new TextDecoder().decode(bytes);
  if (ok && bytes.byteLength > MAX_ERROR_BYTES) return { bytes, body: objectIn(valueIn(text)) };
  let is_changed = false;
  const redact = (each: string) => {
    const redacted = exchange.redact(each);
    is_changed ||= redacted !== each;
    return redacted;
  };
  const value = valueIn(text, (each) =>
    typeof each === 'string' && !(ok && ADDRESS.test(each)) ? redact(each) : each,
  );
  const redacted_text = value === undefined ? redact(text) : undefined;
  const body = objectIn(value);
  if (!is_changed) return { bytes, body };
  return { bytes: new TextEncoder().encode(redacted_text ?? JSON.stringify(value)), body };
}

const ADDRESS = /^https?:\/\/\S+$/;

const objectIn = (value: unknown): JsonObject => (isObject(value) ? value : {});

/**
 * Returns the JSON value in a text, with each of its values edited; undefined if it is not JSON. An
 * integer that a number cannot hold, e.g. an int64 id, becomes a text with its digits.
 */
function valueIn(text: string, edit: (value: unknown) => unknown = (value) => value): unknown {
  try {
    return JSON.parse(text, (name, value, context?: object) =>
      edit(digitsAsText(name, value, context)),
    );
  } catch {
    return undefined;
  }
}

/**
 * Returns the URL of a request. `path` may be a URL that the provider gave. Throws if this URL does
 * not belong to the provider, because the request contains the channel's key.
 */
function addressOf({ target }: JobCall, path: string, own_domain: string | undefined): string {
  if (!/^https?:/i.test(path)) return target.base_url.replace(/\/+$/, '') + path;
  if (!isOwnAddress(target.base_url, path, own_domain)) {
    throw new Error(
      `the provider returned a URL on a foreign host: ${URL.parse(path)?.host ?? 'none'}`,
    );
  }
  return path;
}
