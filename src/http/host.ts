import { WeirError } from '../errors/weir-error.ts';

/** A host name, an IPv4 address or an IPv6 address in brackets, with a port or without one. */
const HOST = /^(?:[\w.~-]+|\[[\da-f:.]+\])(?::\d*)?$/i;

/**
 * Load balancers may request these paths in HTTP/1.0, which needs no `Host`. Without a host, Bun gives
 * the path as the URL of the request.
 */
const WITHOUT_HOST = ['/healthz', '/readyz', '/metrics'];

/** The latest value that was valid. Nearly all requests have the same one. */
let latest_valid = '';

/**
 * Throws WeirError `invalid_request` unless the request has one valid `Host` header (RFC 9112, 3.2).
 * Bun serves other requests, but gives them a URL that cannot be parsed. So this check comes before
 * any handler: a handler that fails after it created a task would charge a task whose id the client
 * never learns.
 */
export function requireHost(request: Request): void {
  const host = request.headers.get('host');
  if (host === latest_valid && host !== '') return;
  if (host === null && WITHOUT_HOST.includes(request.url)) return;
  // Two Host headers are read as one value with a comma, which is not valid.
  if (host === null || !HOST.test(host) || !URL.canParse(`http://${host}`)) {
    throw new WeirError(
      'invalid_request',
      'Host must be a host name, with a port or without one.',
      {
        param: 'Host',
        hint: 'Send one Host header with the host and port of the base URL.',
      },
    );
  }
  latest_valid = host;
}
