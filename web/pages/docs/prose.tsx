import { useNavigate } from '@tanstack/react-router';
import { type MouseEvent, useEffect, useState } from 'react';
import { partsOf, SECTION_REM } from './parts.ts';

/** Returns what follows the links of the documentation: another page of it needs no new document. */
export function useFollow(): (event: MouseEvent) => void {
  const navigate = useNavigate();
  return (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const href = link?.getAttribute('href') ?? '';
    if (!href.startsWith('/docs') || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    navigate({ href });
  };
}

/**
 * The HTML of a page. It is made from the project’s own Markdown when the dashboard is built. The first sections
 * are drawn at once and the others after the first paint, unless the address names a heading.
 */
export function Prose({ html, hash }: { html: string; hash: string }) {
  const follow = useFollow();
  const [painted, setPainted] = useState<string>();
  const { first, rest, rest_sections } = partsOf(html);
  const isWhole = hash !== '' || painted === html;
  useEffect(() => afterPaint(() => setPainted(html)), [html]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the heading exists once the HTML is there
  useEffect(() => {
    const heading = hash === '' ? null : document.getElementById(hash);
    if (heading) heading.scrollIntoView();
    else scrollTo({ top: 0 });
  }, [hash, html]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter on a link is a click
    // biome-ignore lint/a11y/noStaticElementInteractions: the links in it are what is clicked
    <div onClick={follow}>
      <Html html={first} />
      {isWhole ? (
        <Html html={rest} />
      ) : (
        <div style={{ height: `${rest_sections * SECTION_REM}rem` }} />
      )}
    </div>
  );
}

const Html = ({ html }: { html: string }) => (
  // biome-ignore lint/security/noDangerouslySetInnerHtml: the build makes it from docs/
  <div className="prose" dangerouslySetInnerHTML={{ __html: html }} />
);

/** Calls `then` when the browser has painted what is there now. Returns a function that ends this. */
function afterPaint(then: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const frame = requestAnimationFrame(() => {
    timer = setTimeout(then);
  });
  return () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
  };
}
