import { DOCS } from 'weir:docs';
import { useQuery } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { type MouseEvent, useEffect, useState } from 'react';
import { send } from '../../api/client.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { Missing } from '../../shell/missing.tsx';
import { searchDocs } from './search.ts';

/** A page of the project's own documentation, beside the list of all. It needs no other server. */
export function DocsPage() {
  const { pathname, hash } = useLocation();
  const slug = pathname.replace(/^\/docs\/?/, '') || 'start';
  const page = DOCS.find((each) => each.slug === slug);
  const query = useQuery({
    queryKey: ['docs', page?.file],
    queryFn: async ({ signal }) => (await send('GET', `/assets/${page?.file}`, { signal })).text(),
    enabled: page !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
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

/** Returns what follows the links of the documentation: another page of it needs no new document. */
function useFollow(): (event: MouseEvent) => void {
  const navigate = useNavigate();
  return (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const href = link?.getAttribute('href') ?? '';
    if (!href.startsWith('/docs') || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    navigate({ href });
  };
}

/** The HTML of a page. It is made from the project’s own Markdown when the dashboard is built. */
function Prose({ html, hash }: { html: string; hash: string }) {
  const follow = useFollow();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the heading exists once the HTML is there
  useEffect(() => {
    const heading = hash === '' ? null : document.getElementById(hash);
    if (heading) heading.scrollIntoView();
    else scrollTo({ top: 0 });
  }, [hash, html]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter on a link is a click
    // biome-ignore lint/a11y/noStaticElementInteractions: the links in it are what is clicked
    <div
      onClick={follow}
      className="prose"
      // biome-ignore lint/security/noDangerouslySetInnerHtml: the build makes it from docs/
      dangerouslySetInnerHTML={{ __html: html }}
    />
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
