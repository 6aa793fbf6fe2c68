import { expect, test } from 'bun:test';
import { connectDatabase } from '../../../db/client.ts';
import { Audit } from '../../../src/actors/money/audit.ts';
import { VirtualClock } from '../../sim/virtual-clock.ts';
import { createTestDatabase } from '../../support/postgres.ts';

test('P15: the audit finds 0 imbalances if all sums add up, and reports a sum that does not', async () => {
  const fresh = await createTestDatabase();
  const database = connectDatabase(fresh.url, { pool: 'single' });
  const { sql } = database;
  await sql`insert into organization (id, name, deposited_nano_usd, balance_nano_usd)
    values ('org', 'test', 100, 100)`;
  await sql`insert into deposit (id, organization_id, amount_nano_usd)
    values (${Bun.randomUUIDv7()}, 'org', 100)`;
  const reported: unknown[] = [];
  const audit = new Audit({
    sql,
    clock: new VirtualClock(),
    onImbalance: (imbalances) => reported.push(...imbalances),
    onError: () => undefined,
  });
  expect(audit.imbalances).toBeUndefined();
  await audit.run();
  expect(audit.imbalances).toBe(0);
  await sql`update deposit set amount_nano_usd = 99`;
  await audit.run();
  expect(audit.imbalances).toBe(1);
  expect(reported.map((each) => ({ ...(each as object) }))).toEqual([
    { what: 'organization deposits', id: 'org', nano_usd: 1 },
  ]);
  await audit.stop();
  await database.close();
  await fresh.drop();
});
