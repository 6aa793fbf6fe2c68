import type { QueryClient } from '@tanstack/react-query';
import type { Here } from '../api/session.ts';

/** What a page needs to begin its reads. */
export interface Beginning {
  readonly queries: QueryClient;
  readonly here: Here;
  /** What the address says. */
  readonly search: Readonly<Record<string, unknown>>;
  readonly path: string;
  /** The parts of the path that have names. */
  readonly params: Readonly<Record<string, string | undefined>>;
}

/** The module of a page that begins its reads itself. */
export interface BeginningPage {
  readonly begin: (beginning: Beginning) => void;
}

/** What a loader of the router gets, as far as `beginsReads` uses it. */
interface LoaderContext {
  readonly cause: 'enter' | 'stay' | 'preload';
  readonly context: { readonly queries: QueryClient; readonly here: Here };
  readonly location: { readonly search: unknown; readonly pathname: string };
  readonly params: Beginning['params'];
}

/**
 * Returns a loader that begins the reads of a page as soon as its script runs. Otherwise they begin after
 * the page was drawn for the first time, and the server has nothing to do until then. The page does not
 * wait for the loader's reads. A link that is only pointed at reads nothing. `first` begins what needs nothing of
 * the page's script, so it does not wait for that.
 */
export function beginsReads(page: () => Promise<BeginningPage>, first?: BeginningPage['begin']) {
  return async ({ cause, context, location, params }: LoaderContext) => {
    const { queries, here } = context;
    if (cause !== 'enter' || !here.organization) return;
    const search = location.search as Beginning['search'];
    const beginning: Beginning = { queries, here, search, path: location.pathname, params };
    first?.(beginning);
    // If the script cannot be loaded, the component of the route says so.
    const module = await page().catch(() => undefined);
    module?.begin(beginning);
  };
}
