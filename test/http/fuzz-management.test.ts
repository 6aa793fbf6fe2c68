import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { startTestApp, type TestApp } from '../support/app.ts';
import { anyJson, anyNumber, anyText, mutated, sometimes } from '../support/arbitrary-json.ts';
import { errorOf } from '../support/envelope.ts';
import { fc } from '../support/property.ts';

/** A busy machine may need longer than the default of 5 s. */
setDefaultTimeout(60_000);

let app: TestApp;
let key_id = '';
beforeAll(async () => {
  app = await startTestApp();
  key_id = await newKeyId();
});
afterAll(() => app.stop());

async function newKeyId(): Promise<string> {
  const response = await app.manage('POST', '/api-keys', {});
  return ((await response.json()) as { id: string }).id;
}

/** A fixed seed: a failure is reproducible. */
const SAMPLE = { numRuns: 5_000, seed: 20_261_121 };
const RUNS = SAMPLE.numRuns;
/** Number of concurrent requests. Round trips take most of the time. */
const AT_ONCE = 50;

const anyDate = fc.oneof(
  fc
    .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
    .map((date) => date.toISOString()),
  fc.constantFrom('2030-01-31T12:00:00Z', '9999-12-31T23:59:59-23:59', '0000-01-01T00:00:00Z'),
  anyText,
);
const fields = {
  name: anyText,
  limitAmount: fc.oneof(anyNumber, fc.constant(null)),
  limitCurrency: fc.constantFrom('USD', 'CNY', 'EUR', 'usd'),
  models: fc.array(fc.oneof(fc.constant('gpt-4o'), anyText), { maxLength: 4 }),
  tags: fc.array(anyText, { maxLength: 2 }),
  external_id: fc.oneof(anyText, fc.constant(null)),
  requests_per_minute: fc.oneof(fc.integer({ min: 1, max: 1e6 }), anyNumber, fc.constant(null)),
  expiresAt: fc.oneof(anyDate, fc.constant(null)),
};
const status = fc.constantFrom('active', 'inactive', 'suspended', 'revoked', 'deleted');

const createBody = mutated(fc.record(fields, { requiredKeys: [] }));
const patchBody = mutated(fc.record({ ...fields, status }, { requiredKeys: [] }));
const anyKeyId = fc.oneof(
  fc.constant(''),
  fc.string({ unit: 'binary' }).map((text) => encodeURIComponent(text.toWellFormed())),
);

/** Sends all bodies. Every response must be a key record or the error envelope. */
async function sendAll(
  send: (body: unknown, index: number) => Promise<Response>,
  bodies: unknown[],
) {
  const statuses = new Map<number, number>();
  for (let start = 0; start < bodies.length; start += AT_ONCE) {
    await Promise.all(
      bodies.slice(start, start + AT_ONCE).map(async (body, offset) => {
        const response = await send(body, start + offset);
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
        if (response.status === 200) return expect(await response.json()).toHaveProperty('id');
        // 409: another key has the external id.
        expect([400, 404, 409]).toContain(response.status);
        await errorOf(response, response.status);
      }),
    );
  }
  return statuses;
}

describe('random bodies', () => {
  test(`POST /v1/management/api-keys answers each of ${RUNS} bodies with the new key or an error envelope`, async () => {
    const bodies = fc.sample(createBody, SAMPLE);
    const statuses = await sendAll((body) => app.manage('POST', '/api-keys', body), bodies);
    // 200 and 400 must both be frequent. Otherwise the bodies prove nothing.
    expect(statuses.get(200)).toBeGreaterThan(RUNS / 50);
    expect(statuses.get(400)).toBeGreaterThan(RUNS / 10);
    expect(app.reported.filter((error) => (error as { id?: string }).id === undefined)).toEqual([]);
  });

  test(`PATCH /v1/management/api-keys/{keyId} answers each of ${RUNS} bodies with the changed key or an error envelope`, async () => {
    const bodies = fc.sample(patchBody, SAMPLE);
    const ids = fc.sample(sometimes(anyKeyId), SAMPLE);
    let revoked = 0;
    const statuses = await sendAll(async (body, index) => {
      const response = await app.manage('PATCH', `/api-keys/${ids[index] || key_id}`, body);
      // Weir refuses almost every change of a revoked key. So the next bodies go to a new key.
      if ((body as { status?: string } | null)?.status === 'revoked' && response.ok) {
        revoked += 1;
        key_id = await newKeyId();
      }
      return response;
    }, bodies);
    expect(revoked).toBeGreaterThan(0);
    expect(statuses.get(200)).toBeGreaterThan(RUNS / 100);
    expect(statuses.get(400)).toBeGreaterThan(RUNS / 10);
    expect(statuses.get(404)).toBeGreaterThan(0);
    expect(app.reported.filter((error) => (error as { id?: string }).id === undefined)).toEqual([]);
  });

  test('accepted fields are readable afterwards', async () => {
    const response = await app.manage('GET', '/api-keys');
    expect(response.status).toBe(200);
    const { data } = (await response.json()) as { data: { limit_amount: number | null }[] };
    for (const { limit_amount } of data) {
      expect(limit_amount ?? 0).toBeGreaterThanOrEqual(0);
      expect(limit_amount ?? 0).toBeLessThanOrEqual(100_000);
    }
  });
});

describe('random bodies of tokens', () => {
  const tokenFields = {
    name: anyText,
    scopes: fc.array(fc.constantFrom('read', 'keys', 'billing', 'write', '')),
    expiresAt: fc.oneof(anyDate, fc.constant(null)),
  };
  // Fewer bodies, because an organization can have 1,000 valid tokens.
  const FEWER = { ...SAMPLE, numRuns: 1_000 };

  test('POST and PATCH /v1/management/tokens answer with the token or an error envelope', async () => {
    const bodies = fc.sample(mutated(fc.record(tokenFields)), FEWER);
    const created = await sendAll((body) => app.manage('POST', '/tokens', body), bodies);
    expect(created.get(200)).toBeGreaterThan(FEWER.numRuns / 50);
    expect(created.get(400)).toBeGreaterThan(FEWER.numRuns / 10);
    const list = (await (await app.manage('GET', '/tokens')).json()) as {
      data: { id: string; created_by: string | null }[];
    };
    // The token of the first run sends the requests.
    const data = list.data.filter(({ created_by }) => created_by !== null);
    const changes = fc.sample(mutated(fc.record(tokenFields, { requiredKeys: [] })), FEWER);
    const path = (index: number) => `/tokens/${data[index % data.length]?.id}`;
    const changed = await sendAll((body, index) => app.manage('PATCH', path(index), body), changes);
    expect(changed.get(200)).toBeGreaterThan(FEWER.numRuns / 50);
    expect(changed.get(400)).toBeGreaterThan(FEWER.numRuns / 10);
    expect(app.reported.filter((error) => (error as { id?: string }).id === undefined)).toEqual([]);
  });

  test('PATCH and POST with any If-Match and Idempotency-Key', async () => {
    const values = fc.sample(
      fc.record({
        'if-match': fc.oneof(fc.string(), fc.constantFrom('*', '"a"', 'W/"a", "b"', ',')),
        'idempotency-key': fc.string({ minLength: 1 }),
      }),
      { ...SAMPLE, numRuns: 300 },
    );
    for (const headers of values) {
      const response = await app.manage('PATCH', `/api-keys/${key_id}`, { name: 'h' }, headers);
      expect([200, 400, 412]).toContain(response.status);
      await response.text();
    }
  });
});

describe('bodies that are not JSON', () => {
  test('POST /v1/management/api-keys answers raw bytes with the error envelope', async () => {
    const bodies = fc.sample(fc.uint8Array({ maxLength: 200 }), { ...SAMPLE, numRuns: 500 });
    await Promise.all(
      bodies.map(async (bytes) => {
        const response = await app.fetch('/v1/management/api-keys', {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            authorization: `Bearer ${app.credentials.management_token}`,
          },
          body: bytes,
        });
        expect((await errorOf(response, 400)).param).toBe('body');
      }),
    );
  });

  test('anyJson generates values of every kind', () => {
    const kinds = new Set(fc.sample(anyJson, SAMPLE).map((value) => typeof value));
    expect([...kinds].toSorted()).toEqual(['boolean', 'number', 'object', 'string']);
  });
});
