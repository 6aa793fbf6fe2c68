/** What pages read first: it is what they ask for, and everybody in an organization may read it. */
import { expect, test } from 'bun:test';
import { ACTIONS, ROLES } from '../../src/access/actions.ts';
import { MANAGEMENT_ROUTES } from '../../src/http/route-actions.ts';
import { PAGES } from '../../src/http/web/pages.ts';
import { FIRST_PAGES, firstReads } from '../../web/first/reads.ts';

const NOW_MS = Date.parse('2026-11-27T12:34:56Z');

/** The route of a path. */
const routeOf = (path: string) =>
  Object.keys(MANAGEMENT_ROUTES).find((route) =>
    new RegExp(`^${route.replace(/:[a-zA-Z]+/g, '[^/]+')}$`).test(`GET ${path}`),
  ) ?? path;

test.each(FIRST_PAGES)('%s reads first what every role may read', (page) => {
  expect(PAGES as readonly string[]).toContain(page);
  const reads = firstReads(page, '?org=org_1', NOW_MS);
  expect(reads.length).toBeGreaterThan(0);
  for (const [path] of reads) {
    const action = MANAGEMENT_ROUTES[routeOf(path)];
    expect([path, action && ACTIONS[action].roles]).toEqual([path, ROLES]);
  }
});

test('an address with filters, and one of another page, reads nothing first', () => {
  expect(firstReads('/usage', '?range=7d', NOW_MS)).toEqual([]);
  expect(firstReads('/docs', '', NOW_MS)).toEqual([]);
  expect(firstReads('/toString', '', NOW_MS)).toEqual([]);
});
