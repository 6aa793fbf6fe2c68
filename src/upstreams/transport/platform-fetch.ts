import {
  COMMON_HEADERS,
  codeOf,
  type HttpRequest,
  type HttpResponse,
  MAX_HEAD_BYTES,
  MalformedResponse,
  requireSafe,
  type SentRequest,
  TLS_SETTINGS,
  UnsentRequestError,
} from './http.ts';
import { contentCoding } from './http1/decoded.ts';

/** Codes of errors before the first byte of a request: no connection, or a wrong certificate. */
const UNSENT_CODES =
  /^(?:ConnectionRefused|ECONNREFUSED|ENOTFOUND|FailedToOpenSocket|EHOSTUNREACH|ENETUNREACH|DNS\w*|ERR_TLS_CERT_\w+|CERT_\w+|UNABLE_TO_(?:GET|VERIFY)_\w+|(?:DEPTH_ZERO_)?SELF_SIGNED_CERT\w*)$/;

/** Sends a request with the platform's `fetch`, for proxies and for upstreams that need `fetch`. */
export function sendWithFetch(request: HttpRequest): SentRequest {
  const { method, url, headers, body, may_repeat } = request;
  const all: Record<string, string> = { ...COMMON_HEADERS };
  if (body) all['content-type'] = requireSafe('content-type', body.content_type);
  for (const name in headers) all[name] = requireSafe(name, headers[name]);
  const controller = new AbortController();
  const response = fetch(url, {
    method,
    headers: all,
    ...(body ? { body: body.content } : {}),
    signal: controller.signal,
    redirect: 'manual',
    // `Exchange` limits the time, so Bun's default limit of five minutes is switched off.
    timeout: false,
    // If a reused connection closes, `fetch` fails or sends the request again. So a request that
    // must not be sent twice gets a new connection.
    keepalive: may_repeat,
    tls: TLS_SETTINGS,
  }).then(checked, (error: unknown) => {
    throw UNSENT_CODES.test(codeOf(error) ?? '') ? new UnsentRequestError(error) : error;
  });
  return { response, abort: () => controller.abort() };
}

/**
 * Throws MalformedResponse for a response that `fetch` accepts but Weir's own client refuses: the
 * head is too long, or the content coding is unknown.
 */
function checked(response: Response): HttpResponse {
  let head_bytes = 0;
  response.headers.forEach((value, name) => {
    head_bytes += name.length + value.length + ': \r\n'.length;
  });
  try {
    if (head_bytes > MAX_HEAD_BYTES) {
      throw new MalformedResponse('the head of the response is too long');
    }
    contentCoding(response.headers);
  } catch (error) {
    void response.body?.cancel();
    throw error;
  }
  return response;
}
