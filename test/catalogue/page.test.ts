import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cataloguePage } from '../../docs/catalogue-page.ts';

test('docs/catalogue.md matches the catalogue; after a change, run "bun run catalogue"', () => {
  const page = readFileSync(join(import.meta.dir, '../../docs/catalogue.md'), 'utf8');
  expect(page).toBe(cataloguePage());
});
