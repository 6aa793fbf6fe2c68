/** The pages of documentation, made into HTML when the dashboard is built. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { Marked, type Tokens } from 'marked';
import { getHeadingList, gfmHeadingId } from 'marked-gfm-heading-id';

/** A page of the documentation, as the dashboard lists it. */
export interface DocPage {
  /** The last part of its address: `/docs/{slug}`. */
  readonly slug: string;
  readonly title: string;
  /** Its headings, which the search looks through, with their ids. */
  readonly headings: readonly { readonly id: string; readonly text: string }[];
  /** The file with its HTML. */
  readonly file: string;
}

/**
 * Writes the HTML of every page into `folder`. Returns the pages in the order of the list: the README, the API
 * reference, the other pages of `docs/`, the decisions.
 */
export function buildDocs(root: string, folder: string): DocPage[] {
  const reference = ['docs/reference.md', ...markdownIn(root, 'docs/reference')];
  const others = markdownIn(root, 'docs').filter((path) => !reference.includes(path));
  const files = ['README.md', ...reference, ...others, ...markdownIn(root, 'docs/decisions')];
  return files.map((path) => {
    const { html, headings } = render(path, readFileSync(join(root, path), 'utf8'));
    const slug = slugOf(path);
    const hash = createHash('sha256').update(html).digest('hex').slice(0, 8);
    const file = `docs-${slug.replaceAll('/', '-')}-${hash}.html`;
    writeFileSync(join(folder, file), html);
    const [title, ...others] = headings;
    return { slug, title: title?.text ?? slug, headings: others, file };
  });
}

const markdownIn = (root: string, folder: string): string[] =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => `${folder}/${name}`);

/** `docs/decisions/storage.md` is `decisions/storage`, and `README.md` is `start`. */
function slugOf(path: string): string {
  if (path === 'README.md') return 'start';
  return path.replace(/^docs\//, '').replace(/\.md$/, '');
}

function render(path: string, markdown: string) {
  const marked = new Marked(gfmHeadingId(), {
    renderer: {
      link({ href, tokens }: Tokens.Link) {
        const text = this.parser.parseInline(tokens);
        const target = targetOf(path, href);
        return target === undefined ? text : `<a href="${escaped(target)}">${text}</a>`;
      },
      // Comments tie figures to constants of the code.
      html: ({ text }: Tokens.HTML | Tokens.Tag) => (text.startsWith('<!--') ? '' : text),
      image: ({ text }: Tokens.Image) => escaped(text),
    },
  });
  const html = marked.parse(markdown, { async: false });
  const headings = getHeadingList().map(({ id, raw }) => ({ id, text: raw.replace(/[`*]/g, '') }));
  return { html: sections(accessible(html)), headings };
}

/** Makes a section of each heading below the title and what follows it, so that it can be laid out alone. */
const sections = (html: string): string =>
  html
    .split(/(?=<h[23][ >])/)
    .map((part) => (/^<h[23]/.test(part) ? `<section>${part}</section>` : part))
    .join('');

/** What scrolls can be reached by keyboard, and a header cell without words is no header. */
function accessible(html: string): string {
  return html
    .replaceAll('<pre>', '<pre tabindex="0">')
    .replaceAll('<th></th>', '<td></td>')
    .replaceAll('<table>', '<div class="scroll" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>');
}

/** Where a link of a page leads in the dashboard; undefined for a file of the code, which it does not serve. */
function targetOf(path: string, href: string): string | undefined {
  if (/^https?:/.test(href) || href.startsWith('#')) return href;
  const [file = '', anchor] = href.split('#');
  const target = normalize(join(dirname(path), file));
  const isPage =
    target === 'README.md' || /^docs\/(?:(?:decisions|reference)\/)?[\w-]+\.md$/.test(target);
  if (!isPage) return undefined;
  return `/docs/${slugOf(target)}${anchor === undefined ? '' : `#${anchor}`}`;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
