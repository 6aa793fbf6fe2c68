import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import { checkedAddress, ForbiddenAddressError } from './checked-address.ts';

const MAX_REDIRECTS = 3;

/** Options of `guardedFetch`. */
export interface GuardedFetchOptions {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly max_bytes: number;
  /** Time limit of the whole exchange, including the body. */
  readonly timeout_ms: number;
  /** Internal hosts that the operator allowed, as `host:port`. */
  readonly allow_hosts?: ReadonlySet<string>;
  /** If false, a redirect is returned like any other response. */
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
}

/** The response after all redirects. Its stream fails if the body has more than `max_bytes`. */
export interface GuardedAnswer {
  readonly status: number;
  readonly content_type: string;
  readonly stream: ReadableStream<Uint8Array>;
}

/**
 * Fetches an address that a provider or a client gave. Weir connects only to public internet
 * addresses and to `allow_hosts`. The host is resolved here, and each of its IP addresses is
 * checked. The connection goes to a checked IP address, so a later DNS change of the host has no
 * effect. At most three redirects are followed, and each redirect is checked in the same way. After
 * a redirect to another host, port or scheme, the headers are no longer sent. Throws
 * ForbiddenAddressError, the signal's reason, or a network error.
 */
export async function guardedFetch(
  url: string,
  options: GuardedFetchOptions,
): Promise<GuardedAnswer> {
  const timeout = AbortSignal.timeout(options.timeout_ms);
  const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
  let target = parseAddress(url);
  let headers = options.headers ?? {};
  for (let redirects = 0; ; redirects += 1) {
    const answer = await exchange(target, { ...options, headers, signal });
    const { location } = answer.headers;
    const isRedirect = answer.status >= 300 && answer.status < 400 && location !== undefined;
    if (!isRedirect || options.follow === false) {
      return {
        status: answer.status,
        content_type: answer.headers['content-type'] ?? '',
        stream: limitBytes(answer.body, options.max_bytes),
      };
    }
    answer.body.destroy();
    if (redirects >= MAX_REDIRECTS) throw new ForbiddenAddressError('too many redirects');
    const next = parseAddress(new URL(location, target).href);
    if (next.origin !== target.origin) headers = {};
    target = next;
  }
}

function parseAddress(url: string): URL {
  const parsed = URL.parse(url);
  if (!parsed || !['http:', 'https:'].includes(parsed.protocol)) {
    throw new ForbiddenAddressError('the address is not http or https');
  }
  if (parsed.username || parsed.password) {
    throw new ForbiddenAddressError('the address contains credentials');
  }
  return parsed;
}

interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Readable;
}

type Exchange = Pick<GuardedFetchOptions, 'method' | 'body' | 'allow_hosts'> & {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
};

async function exchange(target: URL, options: Exchange): Promise<RawResponse> {
  const { method = 'GET', headers, body, signal } = options;
  const port = portOf(target);
  const address = await checkedAddress(hostnameOf(target), port, options.allow_hosts);
  signal.throwIfAborted();
  const request = target.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        // The connection goes to the checked address. The Host header and the certificate check use
        // the name.
        host: address,
        port,
        ...(isIP(hostnameOf(target)) ? {} : { servername: hostnameOf(target) }),
        path: target.pathname + target.search,
        method,
        headers: { ...headers, host: target.host },
        signal,
        agent: false,
      },
      (incoming) =>
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers as Record<string, string | undefined>,
          body: incoming,
        }),
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

function portOf(target: URL): number {
  return Number(target.port) || (target.protocol === 'https:' ? 443 : 80);
}

/** Returns the host name. An IPv6 address is returned without its brackets. */
function hostnameOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/**
 * Returns the body with a size limit. Above the limit the stream fails and the connection closes.
 */
function limitBytes(body: Readable, max_bytes: number): ReadableStream<Uint8Array> {
  let read = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      read += chunk.byteLength;
      if (read > max_bytes) {
        body.destroy();
        controller.error(new ForbiddenAddressError('the file is too large'));
      } else controller.enqueue(chunk);
    },
  });
  return (Readable.toWeb(body) as unknown as ReadableStream<Uint8Array>).pipeThrough(counter);
}
