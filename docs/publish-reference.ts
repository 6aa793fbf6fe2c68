/**
 * Writes `docs/reference.md`, `docs/reference/*.md` and `docs/openapi.json`. After a change of a route or of
 * its schema, run `bun run reference`.
 */
import { openapiText } from './reference/openapi.ts';
import { referenceIndex, referencePage } from './reference/page.ts';
import { REFERENCE_PAGES } from './reference/routes.ts';

const write = (path: string, text: string) => Bun.write(new URL(path, import.meta.url), text);

await write('./reference.md', referenceIndex());
await write('./openapi.json', openapiText());
for (const page of REFERENCE_PAGES) await write(`./reference/${page.slug}.md`, referencePage(page));
