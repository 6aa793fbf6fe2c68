/**
 * The smallest script of the dashboard. It runs while the first script of the pages is still on its way, and begins
 * what the opened page will read: so the server works while the browser loads and runs the rest. The document names
 * the organization, because an answer that names it would come too late.
 */
import { beginRead } from '../api/begun.ts';
import { urlOf } from '../api/url.ts';
import { firstReads } from './reads.ts';

const id = document.querySelector<HTMLMetaElement>('meta[name=weir-organization]')?.content;
if (id !== undefined) {
  const { pathname, search } = location;
  for (const [path, query] of firstReads(pathname, search, Date.now())) {
    beginRead(urlOf(path, query), id);
  }
}
