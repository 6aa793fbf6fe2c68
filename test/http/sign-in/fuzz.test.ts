/** Random bodies, cookies and headers on the routes of people: no answer is a defect of Weir. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { anyText, mutated } from '../../support/arbitrary-json.ts';
import { Browser, join } from '../../support/people.ts';
import { fc } from '../../support/property.ts';

setDefaultTimeout(60_000);

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

/** A fixed seed: a failure is reproducible. */
const SAMPLE = { numRuns: 600, seed: 20_261_125 };

const email = fc.oneof(
  fc.emailAddress(),
  fc.string({ unit: 'binary', maxLength: 20 }).map((text) => `${text}@example.com`),
  fc.constantFrom(
    'a@localhost',
    'a&b@example.com',
    'İ@example.com',
    'ΑΣ@example.com',
    'a@example.com\r\nBcc: b@example.com',
  ),
  anyText,
);
const password = fc.oneof(fc.string({ unit: 'binary', minLength: 12, maxLength: 130 }), anyText);
const role = fc.constantFrom('owner', 'admin', 'member', 'viewer', 'operator');

const BODIES = {
  'POST /v1/auth/password-reset': fc.record({ email }),
  'POST /v1/auth/links/lk-none': fc.record({ email, name: anyText, password }),
  'POST /v1/management/invitations': fc.record({ email, role }),
  'POST /v1/operator/invitations': fc.record({ email }),
  'PATCH /v1/management/people/none': fc.record({ role }),
};

test.each(Object.entries(BODIES))('%s', async (route, body) => {
  const [method = '', path = ''] = route.split(' ');
  const { operator_token, management_token } = app.credentials;
  const token = path.includes('operator') ? operator_token : management_token;
  for (const sent of fc.sample(mutated(body as fc.Arbitrary<object>), SAMPLE)) {
    const response = await fetch(app.base_url + path, {
      ...{ method, body: JSON.stringify(sent) },
      headers: {
        'content-type': 'application/json',
        ...(path.includes('/auth/') ? {} : { authorization: `Bearer ${token}` }),
      },
    });
    const text = await response.text();
    expect({ sent, text, is_fault: response.status >= 500 }).toMatchObject({ is_fault: false });
  }
});

test('sign-ins with any address and any password that the rules permit', async () => {
  const pairs = fc.record({ email, password });
  for (const sent of fc.sample(pairs, { numRuns: 40, seed: SAMPLE.seed })) {
    const response = await new Browser(app.base_url).send('POST', '/v1/auth/sign-in', sent);
    expect({ sent, known: [400, 401, 429].includes(response.status) }).toMatchObject({
      known: true,
    });
  }
});

test('cookies and headers of any text', async () => {
  // The other tests left as many open invitations as an organization may have.
  await app.pool.sql`delete from one_time_link`;
  const browser = await join(app, 'ada@example.com', 'owner');
  const value = fc.string({ unit: 'grapheme-ascii', maxLength: 80 });
  const mine = browser.cookies.get('weir.session_token') ?? '';
  for (const text of fc.sample(value, SAMPLE)) {
    for (const cookie of [text, mine.slice(0, text.length) + text, mine.replace('.', `.${text}`)]) {
      const response = await fetch(`${app.base_url}/v1/management/people`, {
        headers: { cookie: `weir.session_token=${cookie}` },
      });
      await response.text();
      expect({ cookie, known: response.status < 500 }).toEqual({ cookie, known: true });
    }
    const named = await browser.send('GET', '/v1/management/people', undefined, {
      headers: { 'weir-organization': text, origin: text },
    });
    await named.text();
    expect({ text, known: named.status < 500 }).toEqual({ text, known: true });
  }
});
