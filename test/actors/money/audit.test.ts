import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { connectDatabase, type Database } from '../../../db/client.ts';
import { Audit, type AuditDeps } from '../../../src/actors/money/audit.ts';
import { VirtualClock } from '../../sim/virtual-clock.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(60_000);

let fresh: TestDatabase;
let database: Database;
let clock: VirtualClock;
let reported: unknown[];
let errors: unknown[];
let audits: Audit[];

beforeEach(async () => {
  fresh = await createTestDatabase();
  database = connectDatabase(fresh.url, { pool: 'background' });
  clock = new VirtualClock();
  [reported, errors, audits] = [[], [], []];
  await database.sql`insert into organization (id, name, deposited_nano_usd, balance_nano_usd)
    values ('org', 'test', 100, 100)`;
  await database.sql`insert into deposit (id, organization_id, amount_nano_usd)
    values (${Bun.randomUUIDv7()}, 'org', 100)`;
});
afterEach(async () => {
  for (const audit of audits) await audit.stop();
  await database.close();
  await fresh.drop();
});

function open(more: Partial<AuditDeps> = {}): Audit {
  const audit = new Audit({
    sql: database.sql,
    clock,
    onImbalance: (imbalances) => reported.push(...imbalances.map((each) => ({ ...each }))),
    onError: (error) => errors.push(error),
    ...more,
  });
  audits.push(audit);
  return audit;
}

/** Writes lines of a key that is not in the ledger, so that they are in no sum. */
async function writeLines(count: number): Promise<void> {
  const { sql } = database;
  for (let n = 0; n < count; n += 1) {
    const id = Bun.randomUUIDv7();
    await sql`
      insert into usage_line (id, request_id, organization_id, key_id, grant_id, scene, access_channel,
        model, model_vendor, channel_id, outcome, input_tokens, cached_input_tokens,
        cache_write_tokens, output_tokens, estimated, charged_nano_usd, overrun_nano_usd, protocol)
      values (${id}, ${id}, 'org', 'key', ${id}, 'chat', 'platform', 'm', 'v', 'c', 'completed', 1, 0,
        0, 0, false, 0, 3, 'openai')`;
  }
}

test('P15: the audit finds 0 imbalances if all sums add up, and reports a sum that does not', async () => {
  const audit = open();
  expect(audit.imbalances).toBeUndefined();
  await audit.run();
  expect(audit.imbalances).toBe(0);
  await database.sql`update deposit set amount_nano_usd = 99`;
  await audit.run();
  expect(audit.imbalances).toBe(1);
  expect(reported).toEqual([{ what: 'organization deposits', id: 'org', nano_usd: 1 }]);
});

test('P15: a sum that only the usage lines prove wrong is named, and counts once', async () => {
  const audit = open();
  await writeLines(1);
  await database.sql`update usage_line set charged_nano_usd = 5`;
  await audit.run();
  const found = [{ what: 'organization settled', id: 'org', nano_usd: -5 }];
  expect(reported).toEqual(found);
  const result = await audit.runWithin(0, 0);
  expect(result?.imbalances.map((each) => ({ ...each }))).toEqual(found);
  // Both parts know it now: the sums of usage have the line.
  await database.sql`update usage_fold set is_ready = true`;
  await audit.run();
  expect(audit.imbalances).toBe(1);
});

test('P15: lines that belong to no sum of the ledger are reported', async () => {
  const audit = open();
  await writeLines(1);
  // The sums of the organization agree with the line. No key and no grant has it.
  await database.sql`update usage_line set charged_nano_usd = 5`;
  await database.sql`update organization set settled_nano_usd = 5, balance_nano_usd = 95`;
  await audit.run();
  expect(reported).toEqual([{ what: 'lines of no key, grant or hold', id: '', nano_usd: 0 }]);
});

test('between two slices of lines, the audit pauses; the quick part has a result meanwhile', async () => {
  const audit = open({ lines_a_slice: 2 });
  await writeLines(5);
  const first = audit.runWithin(200, 2_000);
  // The quick part ends. The other part waits for the clock, and so does the request.
  await until('the quick part has a result', () => audit.imbalances === 0);
  await until('the first slice is read', () => clock.pending > 2);
  clock.advance(200);
  const early = await first;
  expect(early?.lines).toBeUndefined();
  expect(early?.imbalances).toEqual([]);
  // A request that comes while the part runs for long does not wait at all.
  expect((await audit.runWithin(200, 2_000))?.lines).toBeUndefined();
  const lines = await until('all slices are read', async () => {
    clock.advance(1);
    return (await audit.runWithin(0, 0))?.lines;
  });
  expect(lines.result.imbalances).toEqual([]);
  expect(lines.result.overruns).toMatchObject({ count: 5, amount: '15' });
  expect(errors).toEqual([]);
});

test('an audit that is stopped between two slices ends at once, without an error', async () => {
  const audit = open({ lines_a_slice: 1 });
  await writeLines(3);
  await audit.runWithin(0, 0);
  await until('the first slice is read', () => clock.pending > 2);
  await audit.stop();
  expect(clock.pending).toBe(0);
  expect(errors).toEqual([]);
});

test('both parts run 30 s after the start, and every ten minutes', async () => {
  const audit = open();
  clock.advance(29_999);
  expect(audit.imbalances).toBeUndefined();
  clock.advance(1);
  await until('the first audit has ended', () => audit.imbalances === 0);
  await until('the next audits are planned', () => clock.pending === 2);
  await database.sql`update deposit set amount_nano_usd = 99`;
  clock.advance(10 * 60_000);
  await until('the next audit has ended', () => audit.imbalances === 1);
  await until('the audits after it are planned', () => clock.pending === 2);
});

test('if retention removes lines during each reading, the audit fails, and reports no wrong sum', async () => {
  await writeLines(2);
  const removeMore = async () => {
    await database.sql`
      update usage_retention set closed_until = clock_timestamp() where table_name = 'usage_line'`;
  };
  const audit = open({
    lines_a_slice: 1,
    clock: {
      now: () => clock.now(),
      after: (delay_ms, then) => {
        if (delay_ms < 10_000) removeMore().then(then);
        return () => undefined;
      },
    },
  });
  await expect(audit.run()).rejects.toThrow('Retention removed lines');
  expect(reported).toEqual([]);
});
