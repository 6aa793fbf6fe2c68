import type { TransportName } from '../contract.ts';
import type { HttpClient } from './http.ts';
import { sendGuarded, sendWithHttp1 } from './http1/client.ts';
import { sendWithFetch } from './platform-fetch.ts';

/** The HTTP clients, by their names in the configuration. */
export const HTTP_CLIENTS: Record<TransportName, HttpClient> = {
  own: sendWithHttp1,
  fetch: sendWithFetch,
  guarded: sendGuarded,
};

/** True if a proxy is configured. Only `fetch` supports proxies. */
const HAS_PROXY = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'].some(
  (name) => process.env[name],
);

/**
 * Returns `fetch` if a proxy is configured; otherwise the client that the channel names. `guarded` uses
 * no proxy, because only Weir itself can check the address of a connection.
 */
export function httpClientFor(target: {
  readonly transport?: TransportName | undefined;
}): HttpClient {
  const { transport = 'own' } = target;
  return HTTP_CLIENTS[HAS_PROXY && transport !== 'guarded' ? 'fetch' : transport];
}
