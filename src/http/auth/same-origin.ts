import { WeirError } from '../../errors/weir-error.ts';

const SAFE_METHOD = /^(?:GET|HEAD|OPTIONS)$/;

/**
 * Throws WeirError `access_denied` if a page of another origin may have sent a request that changes
 * something (CSRF). Browsers name the origin of a page in `Origin`, and say in `Sec-Fetch-Site` how it
 * relates to the address of the request. Programs that are no browsers send neither header, and nobody
 * can make them send a cookie.
 */
export function requireSameOrigin(request: Request, public_url: string | undefined): void {
  if (!SAFE_METHOD.test(request.method)) requireOwnPage(request, public_url);
}

/** Throws WeirError `access_denied` if a page of another origin may have sent the request. */
export function requireOwnPage({ url, headers }: Request, public_url: string | undefined): void {
  const origin = headers.get('origin');
  // A proxy may end TLS, so only the host of the request's own address is known.
  const isOwn =
    public_url === undefined
      ? hostOf(origin) === new URL(url).host
      : origin === new URL(public_url).origin;
  if (origin === null ? isOwnSite(headers.get('sec-fetch-site')) : isOwn) return;
  throw new WeirError('access_denied', 'A page of another site may not send this request.', {
    param: 'Origin',
    hint: 'Send it from a page of this address, or with a token instead of a cookie. Operators name the address of Weir in WEIR_PUBLIC_URL.',
  });
}

const isOwnSite = (site: string | null): boolean =>
  site === null || site === 'same-origin' || site === 'none';

/** The host of an origin; undefined for `null`, which a page without an origin sends. */
function hostOf(origin: string | null): string | undefined {
  return origin !== null && URL.canParse(origin) ? new URL(origin).host : undefined;
}
