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

export type JsonObject = Record<string, unknown>;

/** One request to a provider. A FormData `body` is sent as multipart; any other body as JSON. */
export interface ProviderRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** A path below the target's base URL, or a complete URL that the provider gave. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: JsonObject | FormData;
}

export interface ProviderAnswer {
  readonly status: number;
  readonly headers: Pick<Headers, 'get'>;
  /** The parsed body. It is `{}` if the body is not a JSON object. */
  readonly body: JsonObject;
  readonly bytes: Uint8Array;
}

/**
 * Sends a request to a provider and reads the whole response of any status. Of an error's body it
 * reads only the start, so that a long error is still an error with its status. `may_repeat` tells
 * whether the request may be sent again if its connection turns out to be closed.
 *
 * Throws UnsentRequestError if the provider certainly received nothing, the signal's reason if it
 * was aborted, and otherwise RetryableUpstreamError.
 */
export async function requestProvider(
  call: JobCall,
  { method = 'GET', path, headers, body }: ProviderRequest,
  may_repeat: boolean,
): Promise<ProviderAnswer> {
  const url = addressOf(call, path);
  const encoded = body && !(body instanceof FormData) ? jsonBody(JSON.stringify(body)) : body;
  const exchange = new Exchange(call);
  try {
    const response = await exchange.send({
      ...{ method, url, headers, body: encoded, may_repeat, pool: 'jobs' },
    });
    const { status, headers: response_headers } = response;
    const bytes = response.ok
      ? await readBytes(response, MAX_ANSWER_BYTES)
      : await readStart(response, MAX_ERROR_BYTES);
    // The rest of a cut error is not read, so its connection is closed.
    if (response.ok || bytes.byteLength < MAX_ERROR_BYTES) exchange.markComplete();
    return { status, headers: response_headers, bytes, body: parsed(response_headers, bytes) };
  } catch (error) {
    throw error instanceof UnsentRequestError ? error : exchange.toUpstreamError(error);
  } finally {
    exchange.close();
  }
}

function parsed(headers: ProviderAnswer['headers'], bytes: Uint8Array): JsonObject {
  if (/^(image|video|audio)\//.test(headers.get('content-type') ?? '')) return {};
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/**
 * Returns the URL of a request. Throws if `path` is a URL that the provider gave and its host is
 * foreign: the request contains the account's key.
 */
function addressOf({ target }: JobCall, path: string): string {
  if (!/^https?:/.test(path)) return target.base_url.replace(/\/+$/, '') + path;
  if (!isOwnHost(target.base_url, path)) {
    throw new Error(`the provider named a foreign host: ${new URL(path).host}`);
  }
  return path;
}

/**
 * True if `url` has the host of `base_url`, or a host whose last two labels are the same, e.g.
 * `example.com`. Some providers give polling URLs on regional hosts. The scheme must be the same.
 */
function isOwnHost(base_url: string, url: string): boolean {
  const [own, other] = [new URL(base_url), new URL(url)];
  if (own.protocol !== other.protocol) return false;
  if (own.host === other.host) return true;
  const domain = own.hostname.split('.').slice(-2).join('.');
  return own.hostname.includes('.') && !/^[\d.]+$/.test(own.hostname)
    ? other.hostname.endsWith(`.${domain}`)
    : false;
}
