/**
 * P5 for own keys: no answer and no log line shows the key, the address or the physical model, also if
 * the provider quotes all of them. Only the routes of the organization's own keys name the account.
 */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { allowGuardedHosts } from '../../../src/upstreams/transport/http1/guarded-connection.ts';
import { type Gateway, startGateway } from '../../support/gateway.ts';
import { answerOf, refusal } from '../../support/upstream-answers.ts';

setDefaultTimeout(120_000);

const OWN = { physical: 'canary-model-own', secret: 'canary-secret-own-key' };
/** What is left of the key in Base64. */
const ENCODED = Buffer.from(OWN.secret).toString('base64').slice(0, 16);

let gateway: Gateway;
let base_url: string;
beforeAll(async () => {
  gateway = await startGateway({ log_level: 'debug' });
  base_url = `${gateway.upstream.url}/canary-path`;
  allowGuardedHosts(new Set([new URL(base_url).host]));
});
afterAll(async () => {
  await gateway.stop();
  allowGuardedHosts(new Set());
});
afterEach(async () => {
  const { data } = await gateway.manage<{ data: { id: string; status: string }[] }>(
    ...(['GET', '/upstream-keys'] as const),
  );
  for (const { id, status } of data) {
    if (status === 'active') await gateway.manage('POST', `/upstream-keys/${id}/revoke`, {});
  }
});

/** Adds an own key at the scripted upstream. */
async function addKey(): Promise<{ id: string }> {
  gateway.upstream.answer = ({ path }) =>
    path.endsWith('/models')
      ? Response.json({ data: [{ id: OWN.physical }] })
      : Response.json({ error: { message: 'messages is empty' } }, { status: 400 });
  return gateway.manage('POST', '/upstream-keys', {
    ...{ protocol: 'openai', base_url, api_key: OWN.secret },
    models: { 'gpt-4o-mini': OWN.physical },
  });
}

const MESSAGES = [{ role: 'user', content: 'hello' }];
const ROUTES = [
  ['/v1/chat/completions', { messages: MESSAGES }],
  ['/v1/messages', { messages: MESSAGES, max_tokens: 50 }],
  ['/v1/responses', { input: 'hello' }],
] as const;

async function shownBy(path: string, body: object, stream: boolean): Promise<string> {
  const response = await gateway.post(path, { model: 'gpt-4o-mini', stream, ...body });
  return JSON.stringify([...response.headers]) + (await response.text());
}

test.each(ROUTES)('200: POST %s shows nothing of the account', async (path, body) => {
  await addKey();
  gateway.upstream.answer = answerOf;
  gateway.upstream.asked.length = 0;
  for (const stream of [false, true]) {
    expect(await shownBy(path, body, stream)).not.toMatch(/canary/i);
  }
  const credentials = gateway.upstream.asked.map(({ headers }) => headers.get('authorization'));
  expect(credentials).toEqual([`Bearer ${OWN.secret}`, `Bearer ${OWN.secret}`]);
});

test.each([400, 401, 403, 404, 429, 500, 529])(
  'an upstream %d that quotes the key shows nothing of the account',
  async (status) => {
    const shown: string[] = [];
    for (const [path, body] of ROUTES) {
      const { id } = await addKey();
      gateway.upstream.answer = () => refusal(OWN, status, {}, { 'x-said': OWN.secret });
      for (const stream of [false, true]) shown.push(await shownBy(path, body, stream));
      for (const text of shown) expect(text).not.toMatch(/canary/i);
      // The organization itself sees the provider's words, without the key.
      const tested = await gateway.manage<object>('POST', `/upstream-keys/${id}/test`);
      const seen = JSON.stringify([tested, await gateway.manage<object>('GET', '/upstream-keys')]);
      expect(seen).not.toContain(OWN.secret);
      expect(seen).not.toContain(ENCODED);
    }
    // What the provider said is in no log of the operator.
    expect(gateway.errors.filter((line) => line.includes('canary-host'))).toEqual([]);
  },
);

test('the operator’s views of a failed call do not have the provider’s words', async () => {
  await addKey();
  gateway.upstream.answer = () => refusal(OWN, 401, {});
  await shownBy(...ROUTES[0], false);
  await shownBy(...ROUTES[0], true);
  for (const path of ['/calls', '/channels']) {
    expect(await gateway.operate('GET', path)).not.toMatch(/canary-(?:host|model-own|secret-own)/);
  }
  expect(gateway.errors.join('\n')).toContain('only its organization sees why');
  expect(gateway.errors.filter((line) => line.includes('canary-host'))).toEqual([]);
});

test('no log line and no view of the operator shows a key', async () => {
  await addKey();
  gateway.upstream.answer = answerOf;
  await shownBy(...ROUTES[0], false);
  const views = await Promise.all(
    ['/channels', '/calls', '/inspect/actors', '/audit-log', '/books'].map((path) =>
      gateway.operate('GET', path),
    ),
  );
  expect(gateway.errors.length).toBeGreaterThan(0);
  for (const text of [...views, ...gateway.errors]) {
    expect(text).not.toContain(OWN.secret);
    expect(text).not.toContain(ENCODED);
  }
  for (const text of views) expect(text).not.toContain(OWN.physical);
});
