import { afterAll, beforeAll, expect, test } from 'bun:test';
import { connectDatabase, type Database } from '../../db/client.ts';
import { startInstallation, type TestInstallation } from '../support/installation.ts';
import { findMoneyFaults } from '../support/money-faults.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { until } from '../support/until.ts';

let installation: TestInstallation;
let admin: Database;
let name: string;
let url: string;
let drop: () => Promise<void>;

beforeAll(async () => {
  const fresh = await createTestDatabase();
  ({ url, drop } = fresh);
  const admin_url = new URL(fresh.url);
  name = admin_url.pathname.slice(1);
  admin_url.pathname = '/postgres';
  admin = connectDatabase(admin_url.toString(), { pool: 'single' });
  installation = await startInstallation({ env: { DATABASE_URL: fresh.url } });
});

afterAll(async () => {
  await installation.stop();
  await admin.close();
  await drop();
});

/** Ends all connections to the database, and makes the database refuse new ones. */
async function blockDatabase(): Promise<void> {
  await admin.sql`update pg_database set datallowconn = false where datname = ${name}`;
  await admin.sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`;
}

function chat(content: string): Promise<Response> {
  return fetch(`${installation.weir.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${installation.weir.api_key}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] }),
  });
}

test('P4: without its database Weir completes no answer, calls no upstream after its lease, and later recovers by itself', async () => {
  expect((await chat('before')).status).toBe(200);
  await blockDatabase();
  let answered = false;
  const waiting = chat('while the database is away').then((answer) => {
    answered = true;
    return answer;
  });
  const refused = await until('the lease has ended', async () => {
    const answer = await fetch(`${installation.weir.base_url}/readyz`);
    return answer.status === 503 ? chat('after the lease') : undefined;
  });
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toBeTruthy();
  const before = (await installation.simulator.books()).totals.calls;
  expect(before).toBe(2);
  expect(answered).toBe(false);
  await admin.sql`update pg_database set datallowconn = true where datname = ${name}`;
  expect((await waiting).status).toBe(200);
  await until('Weir serves again', async () => (await chat('after')).status === 200);
  const database = connectDatabase(url, { pool: 'single' });
  expect(await findMoneyFaults(database.sql)).toEqual([]);
  const [lines] = await database.sql`select count(*)::int4 as n from usage_line`;
  expect(lines?.n).toBe(3);
  await database.close();
}, 60_000);
