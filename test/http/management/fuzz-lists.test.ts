/** Random parameters of lists: the answer is a page, or an error that names a sent parameter. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { cursorOf } from '../../../src/http/management/list-cursor.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { errorOf } from '../../support/envelope.ts';
import { insertBatches, insertTasks } from '../../support/listed-rows.ts';
import { fc } from '../../support/property.ts';

setDefaultTimeout(60_000);

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  const [key] = await app.database.sql<{ id: string }[]>`select id from api_key`;
  const owner = { organization_id: app.organization_id, key_id: key?.id ?? '' };
  const rows = [{ id: 'weir_1', at_us: 1 }];
  await insertTasks(app.database.sql, owner, rows);
  await insertBatches(app.database.sql, owner, rows);
});
afterAll(() => app.stop());

const TEXTS = [
  ...['', '0', '1', '-1', '100', '101', '1e2', '0x10', 'NaN', 'null', 'failed', 'ended', 'video'],
  ...['0001-01-01', '9999-12-31', '9999-12-31T23:59:59.999Z', '0000-01-01', '10000-01-01'],
  ...['2026-02-29', '2026-11-25T10:00:00+14:00', '2026-11-25 10:00:00Z', '2026-11-25T24:00:00Z'],
  ...["' or 1=1 --", '%00', '\u0000', '\ud800', '🚀', 'a'.repeat(3_000), '../..', '[]', '{}'],
];
const cursors = fc
  .tuple(fc.maxSafeInteger(), fc.string())
  .map(([at_us, id]) => cursorOf({ at_us, id }));
const value = fc.oneof(fc.constantFrom(...TEXTS), fc.string(), cursors);
const name = fc.oneof(
  fc.constantFrom('limit', 'cursor', 'startDate', 'endDate', 'status', 'scene', 'model'),
  fc.constantFrom('api_key_id', 'page', '__proto__', 'constructor', ''),
);

test.each(['/tasks', '/batches'])('GET /v1/management%s', async (path) => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(name, value), { maxLength: 4 }), async (pairs) => {
      const query = new URLSearchParams(pairs);
      const response = await app.manage('GET', `${path}?${query}`);
      if (response.status === 200) {
        expect(await response.json()).toMatchObject({ object: 'list' });
        return;
      }
      const { param } = await errorOf(response, 400);
      const sent: string[] = pairs.map(([each]) => each);
      expect(sent).toContain(param as string);
    }),
    { numRuns: 400, examples: TEXTS.map((text) => [[['endDate', text]]]) },
  );
});
