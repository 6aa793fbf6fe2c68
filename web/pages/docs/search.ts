import type { DocPage } from '../../build-docs.ts';

/** The most results that are shown. */
const MAX_FOUND = 80;

/** A page, or one heading of it. */
export interface FoundDoc {
  readonly page: DocPage;
  readonly heading?: DocPage['headings'][number];
}

/** Returns the pages and headings that have every word of a text; all pages if it is empty. */
export function searchDocs(pages: readonly DocPage[], text: string): FoundDoc[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return pages.map((page) => ({ page }));
  const has = (title: string) => words.every((word) => title.toLowerCase().includes(word));
  return pages
    .flatMap((page): FoundDoc[] => [
      ...(has(page.title) ? [{ page }] : []),
      ...page.headings
        .filter((each) => has(`${page.title} ${each.text}`))
        .map((heading) => ({ page, heading })),
    ])
    .slice(0, MAX_FOUND);
}
