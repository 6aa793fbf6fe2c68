import Markdown, { type Components } from 'react-markdown';

/** An address that a reader may open. Models write other schemes too, e.g. `javascript:`. */
const OPENABLE = /^https?:\/\//i;

/**
 * Models write what they like, also what others told them to write. So raw HTML stays text, an image is
 * only an address, and a link opens only by a click, in a page that learns nothing of this one.
 */
const COMPONENTS: Components = {
  a: ({ href, children }) =>
    href !== undefined && OPENABLE.test(href) ? (
      <a href={href} target="_blank" rel="noopener noreferrer" title={href}>
        {children}
      </a>
    ) : (
      <span title="Not a link to a web page">
        {children}
        {href === undefined || href === '' ? null : ` (${href})`}
      </span>
    ),
  img: ({ src, alt }) => (
    <span className="text-soft">
      [image{alt ? ` “${alt}”` : ''}: {String(src ?? '')}]
    </span>
  ),
  // The headings of an answer are none of the page.
  ...Object.fromEntries(
    (['h1', 'h2', 'h3', 'h4', 'h5', 'h6'] as const).map((name) => [
      name,
      ({ children }: { children?: React.ReactNode }) => <p className="font-semibold">{children}</p>,
    ]),
  ),
  pre: ({ children }) => <pre tabIndex={0}>{children}</pre>,
};

/** The answer of a model, as Markdown without raw HTML. */
export function Answer({ text }: { text: string }) {
  return (
    <div className="prose min-w-0 break-words">
      {/* Addresses are decided above. The library would empty those that readers should see as text. */}
      <Markdown components={COMPONENTS} urlTransform={(url) => url}>
        {text}
      </Markdown>
    </div>
  );
}
