import { join } from 'node:path';
import { WeirError } from '../../errors/weir-error.ts';
import type { Handler, RequestContext } from '../endpoint.ts';
import type { Dashboard, WebBuild } from './build.ts';
import { documentOf, waitingPage } from './document.ts';
import { askedPageOf, needsSession } from './pages.ts';

/** Finds who is signed in, and in which organizations they are. */
interface Sessions {
  find(
    context: RequestContext,
  ): Promise<{ readonly organizations: readonly { readonly id: string }[] } | undefined>;
}

/** The name of each file has a hash of its content, so a browser asks for it once. */
const IMMUTABLE = 'public, max-age=31536000, immutable';
/** A document does not wait longer for the database, ms. */
const MAX_SESSION_WAIT_MS = 100;
const COMPRESSED = /\.(?:js|css|svg|html)$/;

/** The pages of documentation are parts of a page, and none of their own. */
const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  html: 'text/plain; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
};

/** Returns the page of the dashboard that a browser asks for; undefined for any other request. */
export function askedPage(
  dashboard: Dashboard | undefined,
  sessions: Sessions | undefined,
  context: RequestContext,
): Promise<Response> | Response | undefined {
  const { request } = context;
  const page = dashboard && askedPageOf(request);
  if (!page) return undefined;
  const { state } = dashboard;
  if (typeof state === 'string') return waitingPage(state);
  if (!needsSession(page)) return documentOf(state, page, request);
  return shownOrganization(sessions, context).then((organization_id) =>
    documentOf(state, page, request, organization_id),
  );
}

/**
 * Returns the id of the organization that a page will show, as `hereOf` (web/api/session.ts) chooses it. Undefined if
 * it is not known in time: the page then finds out by itself.
 */
async function shownOrganization(
  sessions: Sessions | undefined,
  context: RequestContext,
): Promise<string | undefined> {
  const finding = sessions?.find(context).catch(() => undefined);
  const found = await Promise.race([finding, Bun.sleep(MAX_SESSION_WAIT_MS)]);
  if (!found) return undefined;
  const wanted = new URL(context.request.url).searchParams.get('org');
  const { organizations } = found;
  return (organizations.find(({ id }) => id === wanted) ?? organizations[0])?.id;
}

/** `GET /assets/{name}`: a script, a style, a font or a picture of the dashboard. */
export function getAsset(dashboard: Dashboard | undefined): Handler {
  return ({ request, params }) => {
    const state = dashboard?.state;
    const name = params['name'] ?? '';
    if (
      state === undefined ||
      typeof state === 'string' ||
      !Object.hasOwn(state.manifest.files, name)
    ) {
      throw new WeirError('not_found', 'There is no such file.', {
        hint: 'Reload the page: the dashboard may be newer.',
      });
    }
    return assetOf(state, name, request.headers.get('accept-encoding') ?? '');
  };
}

function assetOf({ folder }: WebBuild, name: string, accepted: string): Response {
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
  const headers: Record<string, string> = {
    'content-type': type,
    'cache-control': IMMUTABLE,
    'x-content-type-options': 'nosniff',
  };
  if (!COMPRESSED.test(name)) return new Response(Bun.file(join(folder, name)), { headers });
  headers['vary'] = 'accept-encoding';
  const [coding, suffix] = /\bbr\b/.test(accepted)
    ? ['br', '.br']
    : /\bgzip\b/.test(accepted)
      ? ['gzip', '.gz']
      : [undefined, ''];
  if (coding !== undefined) headers['content-encoding'] = coding;
  return new Response(Bun.file(join(folder, `${name}${suffix}`)), { headers });
}
