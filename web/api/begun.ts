/**
 * Reads that began before the first script of the pages was there (web/first). The two scripts share no module, so
 * they meet at a property of the window.
 */

/** An answer that is older is not taken: the page would show it as new, ms. */
const FRESH_MS = 5_000;

interface Begun {
  /** The organization of the request, as its header names it. */
  readonly organization_id: string;
  readonly at_ms: number;
  readonly response: Promise<Response>;
}

declare global {
  interface Window {
    weir_begun?: Map<string, Begun>;
  }
}

/** The headers of each read of the API. */
export function readHeaders(organization_id: string | undefined): Record<string, string> {
  const accept = { accept: 'application/json' };
  return organization_id === undefined
    ? accept
    : { ...accept, 'weir-organization': organization_id };
}

/** Begins a read for the page that will ask for it. */
export function beginRead(url: string, organization_id: string): void {
  const response = fetch(url, { headers: readHeaders(organization_id) });
  // Whoever takes it sees the failure.
  response.catch(() => undefined);
  window.weir_begun ??= new Map();
  window.weir_begun.set(url, { organization_id, at_ms: performance.now(), response });
}

/** Returns the answer of a read that has begun, once; undefined if there is none, or an old one. */
export function takeBegun(
  url: string,
  organization_id: string | undefined,
): Promise<Response> | undefined {
  const begun = window.weir_begun?.get(url);
  if (!begun || begun.organization_id !== organization_id) return undefined;
  window.weir_begun?.delete(url);
  return performance.now() - begun.at_ms < FRESH_MS ? begun.response : undefined;
}
