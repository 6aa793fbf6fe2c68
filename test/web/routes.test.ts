/** The server and the dashboard know the same pages. */
import { expect, test } from 'bun:test';
import { PAGES } from '../../src/http/web/pages.ts';
import { routeTree } from '../../web/routes.tsx';

interface Route {
  readonly options: { readonly path?: string };
  readonly children?: readonly Route[];
}

/** The paths of a route and of those below it, with `:` for each parameter. */
function pathsOf({ options, children = [] }: Route): string[] {
  const own = options.path === undefined ? [] : [options.path.replace(/\$\w+/g, ':')];
  return [...own, ...children.flatMap(pathsOf)];
}

test('the server sends a page for each route of the dashboard, and for no other path', () => {
  const served = PAGES.map((page) => page.replace(/:\w+/g, ':'));
  expect(pathsOf(routeTree as unknown as Route).sort()).toEqual(served.sort());
});
