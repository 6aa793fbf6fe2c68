import { afterAll, beforeAll, expect, test } from 'bun:test';
import { connectDatabase, type Database } from '../../../db/client.ts';
import { type FreeCall, insertCallRecords } from '../../../db/records/calls.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { fc } from '../../support/property.ts';

let database: TestDatabase;
let pool: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = connectDatabase(database.url, { pool: 'requests' });
});
afterAll(async () => {
  await pool.close();
  await database.drop();
});

const texts = fc.constantFrom('', 'a', 'b', 'quote \' and "', 'comma, {brace}', 'ünïcode');
const offset = fc.option(fc.nat(2_147_483_647));
const call: fc.Arbitrary<FreeCall> = fc.record({
  id: fc.constant(0).map(() => Bun.randomUUIDv7()),
  organization_id: texts,
  key_id: texts,
  scene: texts,
  model: texts,
  model_vendor: texts,
  channel_id: texts,
  outcome: fc.constantFrom('refused', 'failed', 'free'),
  status: fc.constantFrom(200, 429),
  error_code: fc.option(texts),
  fault: fc.option(texts),
  task_id: fc.option(texts),
  at_ms: fc.integer({ min: 1_700_000_000_000, max: 1_800_000_000_000 }),
  protocol: texts,
  program: texts,
  authenticated_us: offset,
  reserved_us: offset,
  routed_us: offset,
  first_token_ms: offset,
  ended_ms: offset,
  looked_up: fc.constantFrom(true, false, undefined),
  detail: fc.option(fc.record({ end_user: texts, cache_age_s: fc.nat() }), { nil: undefined }),
});

test('records are stored as they are, whatever they share with others, and once', async () => {
  const { sql } = pool;
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 30 }), async (calls) => {
      await sql`truncate call_record`;
      await insertCallRecords(sql, calls);
      await insertCallRecords(sql, calls);
      const rows = await sql<(FreeCall & { at: Date })[]>`select * from call_record`;
      const stored = new Map(rows.map((row) => [row.id, row]));
      expect(rows).toHaveLength(calls.length);
      for (const { at_ms, looked_up = false, detail = null, ...members } of calls) {
        const row = stored.get(members.id);
        expect(row?.at.getTime()).toBe(at_ms);
        expect(row).toMatchObject({ ...members, looked_up, detail } as object);
      }
    }),
    { numRuns: 30 },
  );
});
