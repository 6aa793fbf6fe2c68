/** A replica is killed while it books payments. The payment provider sends them again (P1). */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { findImbalances } from '../../../db/ledger/audit.ts';
import { OperatedOrganizations } from '../../support/operated-organizations.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(120_000);

const PAYMENTS = 120;

let database: TestDatabase;
let survivor: RunningWeir;
let env: Record<string, string>;
beforeAll(async () => {
  database = await createTestDatabase();
  env = { DATABASE_URL: database.url, WEIR_SECRET_KEY: 'the same on both replicas of this test' };
  survivor = await startWeir({ env });
});
afterAll(async () => {
  await survivor.stop();
  await database.drop();
});

/** Makes each payment wait in its COMMIT, so that the kill meets one there. */
async function slowCommits(): Promise<void> {
  const { sql } = database;
  await sql`create function take_a_while() returns trigger language plpgsql as
    $$ begin perform pg_sleep(0.4); return null; end $$`;
  await sql`create constraint trigger slow after insert on deposit deferrable initially deferred
    for each row execute function take_a_while()`;
}

test('kill -9: each payment is booked once, with its line in the audit log', async () => {
  const { operator_token } = survivor;
  const organizations = new OperatedOrganizations(() => survivor);
  const { id } = await organizations.create();
  const victim = await startWeir({ env });
  await slowCommits();
  const dying = new OperatedOrganizations(() => ({ ...victim, operator_token }));
  const references = Array.from({ length: PAYMENTS }, (_, n) => `payment ${n}`);
  const pay = (to: OperatedOrganizations, reference: string) =>
    to.ask<{ id: string }>('POST', `/${id}/deposits`, { amount: 0.01, reference });
  const answers = new Map<string, string>();
  let isStopped = false;
  await Promise.all(
    references.map(async (reference) => {
      try {
        answers.set(reference, (await pay(dying, reference)).id);
      } catch {
        // The answer was lost.
      }
      if (answers.size < 4 || isStopped) return;
      isStopped = true;
      // The process stops in the middle of a COMMIT, which the database ends for nobody.
      await Bun.sleep(200);
      victim.kill('SIGSTOP');
      await Bun.sleep(500);
      victim.kill('SIGKILL');
    }),
  );
  await victim.exited;
  await database.sql`drop trigger slow on deposit`;
  const booked = await database.sql`select from deposit where organization_id = ${id}`;
  expect(booked.length).toBeGreaterThan(answers.size);
  for (const reference of references) {
    const { id: deposit_id } = await pay(organizations, reference);
    expect(answers.get(reference) ?? deposit_id).toBe(deposit_id);
  }
  const { balance } = await organizations.get(id);
  expect(balance).toMatchObject({ available: 1.2, total_deposited: 1.2 });
  const [lines] = await database.sql<{ lines: number }[]>`
    select count(*)::int4 as lines from audit_log
    where organization_id = ${id} and action = 'deposit.create'`;
  expect(lines?.lines).toBe(PAYMENTS);
  expect(await findImbalances(database.sql)).toEqual([]);
});
