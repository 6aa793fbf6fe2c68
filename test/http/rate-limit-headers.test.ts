/**
 * The headers of rate limits. Their names and forms are those of OpenAI docs, Rate limits, "Rate limits
 * in headers" (samples: 60, 59, `1s`, `6m0s`), and of Anthropic docs, Rate limits, "Response headers"
 * ("in RFC 3339 format").
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { newId } from '../../db/secrets.ts';
import { RateLimit } from '../../src/http/rate-limit.ts';
import { type ShownRateLimit, setRateLimit } from '../../src/http/rate-limit-headers.ts';
import { startTestApp, type TestApp } from '../support/app.ts';

setDefaultTimeout(60_000);

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ roles: { standard: 40 } });
});
afterAll(() => app.stop());

const limitsOf = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => name.includes('ratelimit')));

const CHAT = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hello' }] };
const MESSAGES = { ...CHAT, model: 'claude-sonnet-4-5', max_tokens: 10 };
const VERSION = { 'anthropic-version': '2023-06-01' };
const GO_DURATION = /^(\d+m)?\d+s$/;

describe('every answer to a key', () => {
  let remaining = 40;
  test.each([
    ['a chat', () => app.post('/v1/chat/completions', CHAT)],
    ['a stream', () => app.post('/v1/chat/completions', { ...CHAT, stream: true })],
    ['a refused body', () => app.post('/v1/chat/completions', {})],
    ['the list of models', () => app.fetch('/v1/models')],
    ['an unknown task', () => app.fetch('/v1/tasks/none')],
  ])('has the headers of OpenAI: %s', async (_, send) => {
    remaining -= 1;
    const limits = limitsOf(await send());
    expect(limits).toEqual({
      'x-ratelimit-limit-requests': '40',
      'x-ratelimit-remaining-requests': String(remaining),
      'x-ratelimit-reset-requests': expect.stringMatching(GO_DURATION),
    });
  });

  test.each([
    ['a message', () => app.post('/v1/messages', MESSAGES, VERSION)],
    ['a refused body', () => app.post('/v1/messages', {}, VERSION)],
    ['batches', () => app.fetch('/v1/messages/batches', { headers: VERSION })],
  ])('has the headers of Anthropic on its routes: %s', async (_, send) => {
    remaining -= 1;
    const limits = limitsOf(await send());
    const reset = limits['anthropic-ratelimit-requests-reset'] ?? '';
    expect(limits).toEqual({
      'anthropic-ratelimit-requests-limit': '40',
      'anthropic-ratelimit-requests-remaining': String(remaining),
      'anthropic-ratelimit-requests-reset': expect.stringMatching(
        /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
      ),
    });
    const wait_ms = Date.parse(reset) - Date.now();
    expect(wait_ms).toBeGreaterThan(-30_000);
    expect(wait_ms).toBeLessThanOrEqual(61_000);
  });

  test('has no such headers on the routes of Gemini, and without a key', async () => {
    remaining -= 1;
    const gemini = await app.post('/v1beta/models/gemini-2.5-flash:generateContent', {});
    expect(limitsOf(gemini)).toEqual({});
    expect(limitsOf(await fetch(`${app.base_url}/v1/models`))).toEqual({});
    expect(limitsOf(await fetch(`${app.base_url}/healthz`))).toEqual({});
  });

  test('a management request shows the limit of management requests', async () => {
    const limits = limitsOf(await app.manage('GET', '/balance'));
    expect(limits['x-ratelimit-remaining-requests']).toBe('39');
  });

  test('a refusal shows that none is left, and resets when retry-after ends', async () => {
    let response = await app.fetch('/v1/models');
    for (let sent = 0; response.status !== 429 && sent < 41; sent += 1) {
      response = await app.fetch('/v1/models');
    }
    expect(response.status).toBe(429);
    expect(limitsOf(response)).toMatchObject({ 'x-ratelimit-remaining-requests': '0' });
    const reset = response.headers.get('x-ratelimit-reset-requests') ?? '';
    const [, minutes = '0', seconds] = /^(?:(\d+)m)?(\d+)s$/.exec(reset) ?? [];
    expect(Number(minutes) * 60 + Number(seconds)).toBe(
      Number(response.headers.get('retry-after')),
    );
    const native = await app.post('/v1/messages', {}, VERSION);
    expect(limitsOf(native)['anthropic-ratelimit-requests-remaining']).toBe('0');
  });
});

test('the limit of which the fewest requests remain is shown', async () => {
  const limit = new RateLimit(() => ({ standard: 40 }));
  const organization = { organization_id: newId('org'), role: 'standard' };
  const shownOf = async (members: object) => {
    const shown: ShownRateLimit = {};
    await limit.consume({ ...organization, ...members }, shown);
    return shown.rate_limit;
  };
  const key = { id: newId('key'), requests_per_minute: 39 };
  expect(await shownOf(key)).toMatchObject({ limit: 39, remaining: 38 });
  await shownOf({});
  await shownOf({});
  expect(await shownOf(key)).toMatchObject({ limit: 40, remaining: 36 });
});

test.each([
  [0, '0s'],
  [1, '1s'],
  [1_000, '1s'],
  [59_001, '1m0s'],
  [60_000, '1m0s'],
  [360_000, '6m0s'],
])('%i ms until the window ends are written as %s', (reset_ms, text) => {
  const headers = new Headers();
  setRateLimit(headers, { limit: 9, remaining: 8, reset_ms }, 'openai');
  expect(headers.get('x-ratelimit-reset-requests')).toBe(text);
});

test('a replaced header has one value', () => {
  const headers = new Headers({ 'x-ratelimit-limit-requests': '1' });
  setRateLimit(headers, { limit: 9, remaining: 8, reset_ms: 1 }, 'openai');
  expect(headers.get('x-ratelimit-limit-requests')).toBe('9');
});
