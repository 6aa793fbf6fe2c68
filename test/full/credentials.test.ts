/**
 * Every route with every kind of credential. The route alone decides which credentials may pass. A
 * refused credential is refused in the same way on all routes of its kind.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Party, ROUTES, type Route, startParty } from './support/credentials.ts';

setDefaultTimeout(60_000);

let party: Party;
beforeAll(async () => {
  party = await startParty();
});
afterAll(() => party.stop());

/** A credential, and how routes must treat it. */
interface Credential {
  name: string;
  headers(): Record<string, string>;
  /**
   * The interface that the credential opens. `stranger` is true if its organization does not own
   * the objects.
   */
  opens?: 'inference' | 'management' | 'operator';
  stranger?: true;
  /** True if only routes that accept the providers' own headers accept the credential. */
  vendor?: true;
  /** The status on inference routes; set for a known key that may not be used, e.g. a revoked one. */
  refused?: 401 | 403;
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const FAKE = 'x'.repeat(43);

const CREDENTIALS: Credential[] = [
  { name: 'none', headers: () => ({}) },
  { name: 'an empty Authorization', headers: () => ({ authorization: '' }) },
  { name: 'an empty Bearer', headers: () => bearer('') },
  { name: 'a key without its scheme', headers: () => ({ authorization: party.keys.active }) },
  { name: 'Basic', headers: () => ({ authorization: `Basic ${btoa(`${party.keys.active}:`)}` }) },
  { name: 'two Bearers', headers: () => bearer(`x, Bearer ${party.keys.active}`) },
  { name: 'a key with a tail', headers: () => bearer(`${party.keys.active}x`) },
  { name: 'a key cut short', headers: () => bearer(party.keys.active.slice(0, -1)) },
  { name: 'a key in capitals', headers: () => bearer(party.keys.active.toUpperCase()) },
  { name: 'an unknown key', headers: () => bearer(`sk-${FAKE}`) },
  { name: 'an unknown management token', headers: () => bearer(`mt-${FAKE}`) },
  { name: 'an unknown operator token', headers: () => bearer(`op-${FAKE}`) },
  { name: 'a key of 8,000 letters', headers: () => bearer(`sk-${'x'.repeat(8_000)}`) },
  { name: 'SQL', headers: () => bearer("sk-' or '1'='1") },
  { name: 'a cookie', headers: () => ({ cookie: `authorization=Bearer ${party.keys.active}` }) },
  { name: 'a revoked key', headers: () => bearer(party.keys.revoked), refused: 401 },
  { name: 'an expired key', headers: () => bearer(party.keys.expired), refused: 401 },
  { name: 'an inactive key', headers: () => bearer(party.keys.inactive), refused: 403 },
  { name: 'a suspended key', headers: () => bearer(party.keys.suspended), refused: 403 },
  { name: 'a revoked management token', headers: () => bearer(party.tokens.revoked_mt) },
  { name: 'a revoked operator token', headers: () => bearer(party.tokens.revoked_op) },
  { name: 'a key', headers: () => bearer(party.keys.active), opens: 'inference' },
  {
    name: 'a key of another organization',
    headers: () => bearer(party.keys.stranger),
    opens: 'inference',
    stranger: true,
  },
  {
    name: 'a key in x-api-key',
    headers: () => ({ 'x-api-key': party.keys.active }),
    opens: 'inference',
    vendor: true,
  },
  {
    name: 'a key in x-goog-api-key',
    headers: () => ({ 'x-goog-api-key': party.keys.active }),
    opens: 'inference',
    vendor: true,
  },
  { name: 'an unknown key in x-api-key', headers: () => ({ 'x-api-key': `sk-${FAKE}` }) },
  {
    name: 'a management token in x-api-key',
    headers: () => ({ 'x-api-key': party.tokens.management }),
  },
  {
    name: 'a wrong Bearer beside a right x-api-key',
    headers: () => ({ ...bearer(`sk-${FAKE}`), 'x-api-key': party.keys.active }),
  },
  {
    name: 'a management token',
    headers: () => bearer(party.tokens.management),
    opens: 'management',
  },
  {
    name: 'a management token of another organization',
    headers: () => bearer(party.tokens.stranger),
    opens: 'management',
    stranger: true,
  },
  { name: 'an operator token', headers: () => bearer(party.tokens.operator), opens: 'operator' },
];

/** Returns the status that a cell of the table must have. */
function expected(route: Route, credential: Credential): number {
  if (route.opens_to === 'anybody') return route.status;
  const opens =
    credential.opens === route.opens_to && (!credential.vendor || route.vendor_headers === true);
  if (opens) return credential.stranger ? (route.stranger ?? route.status) : route.status;
  if (route.opens_to === 'inference' && credential.refused) return credential.refused;
  return 401;
}

test('the table has at least 960 cells', () => {
  expect(ROUTES.length * CREDENTIALS.length).toBeGreaterThanOrEqual(960);
});

describe.each(ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s',
  (_, route) => {
    test('accepts only the credentials of its interface', async () => {
      const cells = CREDENTIALS.map(async (credential) => {
        const response = await party.send(route, credential.headers());
        const text = await response.text();
        const status = expected(route, credential);
        expect({ credential: credential.name, status: response.status, text }).toEqual({
          ...{ credential: credential.name, status, text },
        });
        if (status >= 400) expectEnvelope(route, status, response, text);
        expect(text).not.toMatch(/ at \S+ \(|\.ts:\d|postgres|sk-xxx/);
        expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{32}$/);
      });
      await Promise.all(cells);
    });
  },
);

/** Checks the envelope of the route's family, and the code that belongs to the status. */
function expectEnvelope(route: Route, status: number, response: Response, text: string): void {
  const body = JSON.parse(text);
  expect(body.error.message).toBeString();
  expect(response.headers.get('content-type')).toStartWith('application/json');
  if (route.family === 'native') {
    expect(body.type).toBe('error');
    expect(body.request_id).toBe(response.headers.get('request-id'));
  }
  if (route.family === 'gemini') expect(body.error.code).toBe(status);
  if (status === 401) {
    const code = route.family === 'gemini' ? body.error.details[0].reason : body.error.code;
    expect(['invalid_api_key', 'expired_api_key']).toContain(code);
    if (route.family === 'native') expect(body.error.type).toBe('authentication_error');
    if (route.family === 'gemini') expect(body.error.status).toBe('UNAUTHENTICATED');
  }
}

test('refused credentials and other organizations changed no object', async () => {
  await party.expectUnchanged();
});
