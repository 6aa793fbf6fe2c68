/** The API reference beside the routes that a running Weir serves, and beside what they refuse. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { gunzipSync } from 'node:zlib';
import { openapiText } from '../../docs/reference/openapi.ts';
import { type ReferenceRoute, servedPath, titleOf } from '../../docs/reference/route.ts';
import { REFERENCE_PAGES } from '../../docs/reference/routes.ts';
import { startTestApp } from '../support/app.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(60_000);

let weir: RunningWeir;
beforeAll(async () => {
  weir = await startWeir({ shared_database: true });
});
afterAll(() => weir.stop());

const routes = REFERENCE_PAGES.flatMap((page) => page.routes);
/** The paths that answer whatever is not a route. */
const UNKNOWN = ['/v1/messages/*', '/*', '/'];

test('the reference has every path of the app, and no other', async () => {
  const app = await startTestApp();
  try {
    const served = app.paths.filter((path) => !UNKNOWN.includes(path));
    expect([...new Set(routes.map(servedPath))].sort()).toEqual(served.sort());
  } finally {
    await app.stop();
  }
});

/** Paths at which vendors have routes that Weir does not offer: 404 says what to do instead of 405. */
const OF_VENDORS = ['/v1/videos/:id', '/v1/files/*'];
const paths = [...new Set(routes.map(servedPath))].filter((path) => !OF_VENDORS.includes(path));

test.each(paths)('the reference has every method of %s, and no other', async (path) => {
  const target = weir.base_url + path.replace(/:\w+|\*/g, 'x');
  const response = await fetch(target, { method: 'PUT' });
  expect(response.status).toBe(405);
  const methods = routes.filter((route) => servedPath(route) === path).map(({ method }) => method);
  expect(response.headers.get('allow')?.split(', ').sort()).toEqual([...new Set(methods)].sort());
});

/** Sends a request with the credential of the route, about an object that nobody has. */
function call(route: ReferenceRoute, query = '', body?: object): Promise<Response> {
  const path = route.path.replace('{month}', '2026-01').replace(/\{\w+\}/g, 'none');
  const token = {
    key: weir.api_key,
    organization: weir.management_token,
    operator: weir.operator_token,
    ...{ session: '', anybody: '', link: '', monitor: '' },
  }[route.caller];
  return fetch(`${weir.base_url}${path}${query}`, {
    method: route.method,
    headers: {
      authorization: `Bearer ${token}`,
      'anthropic-version': '2023-06-01',
      ...(body ? { 'content-type': 'application/json', origin: weir.base_url } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
}

interface ShownError {
  readonly param?: string | null;
  /** Google's envelope has the members here. */
  readonly details?: readonly ShownError[];
}

/** The parameter that an error names, in the envelope of any vendor. */
async function paramOf(response: Response): Promise<string> {
  const { error } = (await response.json()) as { error: ShownError };
  return error.param ?? error.details?.[0]?.param ?? '';
}

describe('a route whose table of the query is complete', () => {
  const closed = routes.filter(({ query }) => query?.additionalProperties === false);

  test('is found', () => {
    expect(closed.length).toBeGreaterThan(35);
  });

  test.each(closed.map((route) => [titleOf(route), route] as const))(
    '%s refuses another parameter by its name',
    async (_, route) => {
      const response = await call(route, '?surprise=1', route.method === 'GET' ? undefined : {});
      // An object of the path is looked up first, if it decides who may ask.
      if (response.status === 404 && route.path.includes('{')) return;
      expect(response.status).toBe(400);
      const required = route.query?.required ?? [];
      expect(['surprise', ...required]).toContain(await paramOf(response));
    },
  );
});

describe('a route whose table of the body is complete', () => {
  const closed = routes.filter(
    ({ body, body_types, caller }) =>
      body?.additionalProperties === false && !body_types && caller !== 'session',
  );

  test('is found', () => {
    expect(closed.length).toBeGreaterThan(35);
  });

  test.each(closed.map((route) => [titleOf(route), route] as const))(
    '%s refuses another member by its name',
    async (_, route) => {
      const response = await call(route, '', { surprise: 1 });
      if (response.status === 404 && route.path.includes('{')) return;
      expect(response.status).toBe(400);
      const required = route.body?.required ?? [];
      expect(['surprise', ...required]).toContain(await paramOf(response));
    },
  );

  test.each(
    routes
      .filter((route) => (route.body?.required?.length ?? 0) > 0 && !route.body_types)
      .filter(({ caller }) => caller !== 'session' && caller !== 'link')
      .map((route) => [titleOf(route), route] as const),
  )('%s refuses an empty body, and names a member that it requires', async (_, route) => {
    const response = await call(route, '', {});
    if (response.status === 404 && route.path.includes('{')) return;
    expect(response.status).toBe(400);
    expect(route.body?.required ?? []).toContain(await paramOf(response));
  });
});

describe('GET /openapi.json', () => {
  const url = () => `${weir.base_url}/openapi.json`;

  test('is the reference, for anybody', async () => {
    const response = await fetch(url());
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toEqual(JSON.parse(openapiText()));
  });

  test('is compressed for a client that takes gzip', async () => {
    const plain = await fetch(url(), { headers: { 'accept-encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
    const zipped = await fetch(url(), {
      headers: { 'accept-encoding': 'gzip' },
      decompress: false,
    });
    expect(zipped.headers.get('content-encoding')).toBe('gzip');
    expect(gunzipSync(await zipped.bytes()).toString()).toBe(await plain.text());
  });

  test('is not sent again to a client that has it', async () => {
    const first = await fetch(url());
    await first.body?.cancel();
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^W\/"[0-9a-f]{16}"$/);
    const again = await fetch(url(), { headers: { 'if-none-match': etag } });
    expect(again.status).toBe(304);
    expect(await again.text()).toBe('');
  });
});
