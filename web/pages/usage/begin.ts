import { keyNames } from '../../api/key-names.ts';
import type { Beginning } from '../../shell/begin.ts';
import { usedModels } from './filters.tsx';
import { savedViews } from './views.tsx';

/** Begins the reads that the pages of usage share. */
export function beginFilters({ queries, here }: Beginning, page: string): void {
  queries.prefetchQuery(usedModels);
  queries.prefetchQuery(keyNames);
  if (here.may('views.read')) queries.prefetchQuery(savedViews(page));
}
