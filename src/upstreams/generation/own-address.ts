/**
 * True if a URL that a provider named belongs to the account's provider. Only then may a request to
 * it carry the account's key. The URL must have the scheme, host and port of `base_url`.
 *
 * `own_domain` is a domain of which each host belongs to the provider, e.g. `example.com`. If the
 * host of `base_url` is in it, an https URL on any host of it belongs to the provider too. Nothing is
 * concluded from equal parts of two names: under `co.uk` or `azure.com`, every name has another owner.
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
