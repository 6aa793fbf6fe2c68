/** Every native route takes only the versions of the provider's API (Anthropic docs: Versions). */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startTestApp, type TestApp } from '../support/app.ts';
import { nativeErrorOf } from '../support/envelope.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const ROUTES = [
  ['POST', '/v1/messages'],
  ['POST', '/v1/messages/count_tokens'],
  ['POST', '/v1/messages/batches'],
  ['GET', '/v1/messages/batches'],
  ['GET', '/v1/messages/batches/x'],
  ['DELETE', '/v1/messages/batches/x'],
  ['GET', '/v1/messages/batches/x/results'],
  ['POST', '/v1/messages/batches/x/cancel'],
] as const;
const VALID = ['2023-01-01', '2023-06-01', '2026-10-21'];
const WRONG = [
  ...[
    '2023-06-02',
    '2024-10-22',
    '2023-6-1',
    '20230601',
    'latest',
    'yesterday',
    '1',
    'vertex-2023-10-16',
  ],
  ...['2023-06-01, 2023-06-01', '2023-06-01;', 'constructor', '9'.repeat(5_000)],
];

describe.each(ROUTES)('%s %s', (method, path) => {
  const send = (headers: Record<string, string>) =>
    app.fetch(path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(method === 'POST' ? { body: '{"requests":[]}' } : {}),
    });
  const isAboutVersion = async (response: Response) =>
    (await response.text()).includes('"param":"anthropic-version"');

  test.each(['anthropic-version', 'vendorA-version'])(
    'refuses wrong values of %s',
    async (name) => {
      for (const version of WRONG) {
        const error = await nativeErrorOf(await send({ [name]: version }), 400);
        expect(error).toMatchObject({
          ...{ type: 'invalid_request_error', param: 'anthropic-version' },
          message: `anthropic-version: "${version.slice(0, 100)}" is not a valid version.`,
          hint: 'Send the header anthropic-version: 2023-06-01.',
        });
      }
    },
  );

  test('requires the header', async () => {
    for (const headers of [{}, { 'anthropic-version': '' }] as Record<string, string>[]) {
      const error = await nativeErrorOf(await send(headers), 400);
      expect(error).toMatchObject({ message: 'anthropic-version: header is required.' });
    }
  });

  test('takes every version of the provider', async () => {
    for (const version of VALID) {
      expect(await isAboutVersion(await send({ 'anthropic-version': version }))).toBe(false);
    }
  });
});
