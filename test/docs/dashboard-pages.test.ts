/** docs/pages.md names the pages of the dashboard, and routes that exist. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MANAGEMENT_ROUTES } from '../../src/http/route-actions.ts';
import { projectFiles, ROOT } from '../house/sources.ts';

const PAGES = [
  'Connect a provider',
  ...['Playground', 'Models', 'Tasks', 'Batches', 'Overview', 'API keys', 'Usage', 'Billing'],
  'Alerts',
  ...['Access', 'Actors', 'Machines', 'Cache', 'Organizations', 'Channels', 'Catalogue', 'Books'],
];

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const table = read('docs/pages.md')
  .split('\n')
  .filter((line) => line.startsWith('| **'));

/** Parameters have no name here: `/tasks/{id}` and `/tasks/:id` are `/tasks/:`. */
const general = (path: string) =>
  path
    .replace(/\?.*$/, '')
    .replace(/\{[^}]+\}|:\w+/g, ':')
    .replace(/\/\*$/, '/:');

test('docs/pages.md has a row for each page', () => {
  expect(table.map((line) => /^\| \*\*(.+?)\*\*/.exec(line)?.[1] ?? '')).toEqual(PAGES);
});

test('docs/pages.md names no route that Weir does not serve', () => {
  const sources = projectFiles('src/http/**/*.ts').map(read).join('\n');
  const written = [...sources.matchAll(/'(\/v1\/[^'`]*)'/g)].map(([, path]) => path as string);
  const batches = [...sources.matchAll(/native\('([^']*)'/g)].map(
    ([, path]) => `/v1/messages/batches${path}`,
  );
  const channel = [...sources.matchAll(/`\$\{channel\}([^`]*)`/g)].map(
    ([, path]) => `/v1/operator/channels/:id${path}`,
  );
  const organization = [...sources.matchAll(/`\$\{organization\}([^`]*)`/g)].map(
    ([, path]) => `/v1/operator/organizations/:id${path}`,
  );
  const managed = Object.keys(MANAGEMENT_ROUTES).map((route) => route.split(' ')[1] ?? '');
  // Operators have the same routes for all actors.
  const inspected = managed
    .filter((path) => path.includes('/inspect/'))
    .map((path) => path.replace('/management/', '/operator/'));
  const served = new Set(
    [...written, ...inspected, ...managed, ...batches, ...channel, ...organization].map(general),
  );
  const named = table.flatMap((line) =>
    [...line.matchAll(/`(?:GET |POST |PATCH )?(\/v1\/[^`]+)`/g)].map(([, path]) => path as string),
  );
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((path) => !served.has(general(path)))).toEqual([]);
});
