import { DOCS } from 'weir:docs';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { useState } from 'react';
import { send } from '../../api/client.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import type { Beginning } from '../../shell/begin.ts';
import { Missing } from '../../shell/missing.tsx';
import { Prose, useFollow } from './prose.tsx';
import { searchDocs } from './search.ts';

/** The page of an address. */
function pageAt(path: string) {
  const slug = path.replace(/^\/docs\/?/, '') || 'start';
  return { slug, page: DOCS.find((each) => each.slug === slug) };
}

/** The read of the HTML of a file. */
const htmlOf = (file: string | undefined) =>
  queryOptions({
    queryKey: ['docs', file],
    queryFn: async ({ signal }) => (await send('GET', `/assets/${file}`, { signal })).text(),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Begins to read the HTML. */
export function begin({ queries, path }: Beginning): void {
  const { page } = pageAt(path);
  if (page) queries.prefetchQuery(htmlOf(page.file));
}

/** A page of the project's own documentation, beside the list of all. It needs no other server. */
export function DocsPage() {
  const { pathname, hash } = useLocation();
  const { slug, page } = pageAt(pathname);
  const query = useQuery({ ...htmlOf(page?.file), enabled: page !== undefined });
  if (!page) return <Missing />;
  return (
    <Page title={page.title} question="The documentation of this installation’s version.">
      <div className="grid gap-8 lg:grid-cols-[minmax(0,1fr)_15rem]">
        <article className="min-w-0 lg:order-1">
          <Loaded query={query} height="h-96">
            {(html) => <Prose html={html} hash={hash} />}
          </Loaded>
        </article>
        <DocsNavigation slug={slug} />
      </div>
    </Page>
  );
}

function DocsNavigation({ slug }: { slug: string }) {
  const [text, setText] = useState('');
  const found = searchDocs(DOCS, text);
  const follow = useFollow();
  return (
    <nav aria-label="Documentation" className="grid content-start gap-3 text-sm lg:order-2">
      <input
        data-search
        type="search"
        className="control"
        aria-label="Search the documentation"
        placeholder="Search ( / )"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: Enter on a link is a click */}
      <ul onClick={follow} className="grid gap-0.5 lg:max-h-[75dvh] lg:overflow-y-auto">
        {found.map(({ page, heading }) => (
          <li key={`${page.slug}#${heading?.id}`}>
            <a
              href={`/docs/${page.slug}${heading ? `#${heading.id}` : ''}`}
              aria-current={page.slug === slug && !heading ? 'page' : undefined}
              className="block rounded-control px-2 py-1 text-soft hover:bg-sunk hover:text-ink aria-[current=page]:bg-accent-soft aria-[current=page]:text-accent"
            >
              {page.slug.startsWith('decisions/') && !heading ? 'Why: ' : ''}
              {heading ? `${page.title} › ${heading.text}` : page.title}
            </a>
          </li>
        ))}
      </ul>
      {found.length === 0 ? (
        <p className="text-soft">No page has these words in a heading.</p>
      ) : null}
    </nav>
  );
}
