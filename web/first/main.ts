/**
 * The smallest script of the dashboard. It runs while the first script of the pages is still on its way, and begins
 * what the opened page will read: so the server works while the browser loads and runs the rest.
 */
import { beginRead } from '../api/begun.ts';
import { urlOf } from '../api/url.ts';
import { firstReads } from './reads.ts';

const { pathname, search } = location;
const response = await beginRead('/v1/auth/session', undefined).catch(() => undefined);
if (response?.ok) {
  const session = (await response.clone().json()) as { organizations: readonly { id: string }[] };
  const wanted = new URLSearchParams(search).get('org');
  // The same choice as `hereOf` makes.
  const { organizations: all } = session;
  const organization = all.find(({ id }) => id === wanted) ?? all[0];
  for (const [path, query] of organization ? firstReads(pathname, search, Date.now()) : []) {
    beginRead(urlOf(path, query), organization?.id);
  }
}
