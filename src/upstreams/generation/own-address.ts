/**
 * True if a URL that a provider named belongs to the account's provider. Only then may a request to
 * it carry the account's key. The URL must have the scheme, host and port of `base_url`.
 *
 * `own_domain` is a domain whose hosts all belong to the provider, e.g. `example.com`. If the host
 * of `base_url` is in this domain, an https URL on any host of the domain belongs to the provider
 * too. Without `own_domain`, a common ending of two host names proves nothing: `a.azure.com` and
 * `b.azure.com` may have different owners.
 */
export function isOwnAddress(base_url: string, url: string, own_domain?: string): boolean {
  const [own, other] = [URL.parse(base_url), URL.parse(url)];
  if (!own || !other || other.username !== '' || other.password !== '') return false;
  if (own.origin === other.origin) return true;
  return own_domain !== undefined && [own, other].every((each) => isInDomain(each, own_domain));
}

/** True for an https URL with the default port on a host of the domain. */
function isInDomain({ protocol, hostname, port }: URL, domain: string): boolean {
  if (protocol !== 'https:' || port !== '') return false;
  return hostname === domain || hostname.endsWith(`.${domain}`);
}
