/** Payments and credit lines, as operators and the webhooks of payment providers send them (P1). */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { findImbalances } from '../../../db/ledger/audit.ts';
import { WeirError } from '../../../src/errors/weir-error.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { errorOf } from '../../support/envelope.ts';
import {
  OperatedOrganizations,
  type OrganizationRecord,
} from '../../support/operated-organizations.ts';
import { fc } from '../../support/property.ts';

setDefaultTimeout(30_000);

interface Deposit {
  id: string;
  kind: string;
  amount: number;
  reference: string | null;
  note: string;
}

let app: TestApp;
/** Another replica on the same database. */
let second: TestApp;
const at = (replica: () => TestApp) =>
  new OperatedOrganizations(() => ({
    ...replica(),
    operator_token: app.credentials.operator_token,
  }));
const organizations = at(() => app);
const replicas = [organizations, at(() => second)];
beforeAll(async () => {
  app = await startTestApp();
  second = await startTestApp({ requests_go_to: app.database.url });
});
afterAll(async () => {
  expect(await findImbalances(app.database.sql)).toEqual([]);
  expect(app.reported.filter((error) => !(error instanceof WeirError))).toEqual([]);
  await second.stop();
  await app.stop();
});

/** Sends a payment to one of the replicas. */
const pay = (id: string, body: object, replica = 0) =>
  (replicas[replica % 2] ?? organizations).send('POST', `/${id}/deposits`, body);
const paid = (id: string, amount: number, reference: string) =>
  organizations.ask<Deposit>('POST', `/${id}/deposits`, { amount, reference });
const lend = (id: string, amount: number) =>
  organizations.ask<object>('PATCH', `/${id}/credit-line`, { amount });
const listOf = async (id: string, query = '') =>
  (await organizations.ask<{ data: Deposit[] }>('GET', `/${id}/deposits${query}`)).data;

async function moneyOf(id: string) {
  const { balance, credit_line } = await organizations.get(id);
  return { available: balance.available, deposited: balance.total_deposited, ...credit_line };
}

describe('POST /v1/operator/organizations/{id}/deposits', () => {
  test('200: money is added once for a reference, however often it is sent', async () => {
    const { id } = await organizations.create();
    const body = { amount: 12.34, reference: 'pi_3PcH1', note: 'card' };
    const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => pay(id, body, n)));
    const deposits = await Promise.all(answers.map((answer) => answer.json()));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(deposits[0]).toEqual({
      ...{ object: 'deposit', organization_id: id, kind: 'payment', currency: 'USD', ...body },
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      created_at: expect.any(String),
    });
    for (const deposit of deposits) expect(deposit).toEqual(deposits[0]);
    expect(await moneyOf(id)).toMatchObject({ available: 12.34, deposited: 12.34 });
    expect(await listOf(id)).toHaveLength(1);
    const lines = await app.database.sql`
      select organization_id, after from audit_log
      where action = 'deposit.create' and subject_id = ${(deposits[0] as Deposit).id}
      order by organization_id`;
    expect(lines.map(({ after }) => after)).toMatchObject([
      { amount: 12.34, reference: 'pi_3PcH1', organization_id: id },
      { amount: 12.34, reference: 'pi_3PcH1' },
    ]);
  });

  test('409: the same reference with another amount', async () => {
    const { id } = await organizations.create();
    await paid(id, 5, 'same');
    const error = await errorOf(await pay(id, { amount: 6, reference: 'same' }), 409);
    expect(error).toMatchObject({ code: 'already_exists', param: 'reference' });
    expect((await moneyOf(id)).available).toBe(5);
    const other = await organizations.create();
    expect((await paid(other.id, 6, 'same')).amount).toBe(6);
  });

  test.each([
    ['amount', { reference: 'r' }],
    ['amount', { amount: 0, reference: 'r' }],
    ['amount', { amount: -5, reference: 'r' }],
    ['amount', { amount: '5', reference: 'r' }],
    ['amount', { amount: 1_000_001, reference: 'r' }],
    ['reference', { amount: 5 }],
    ['reference', { amount: 5, reference: '' }],
    ['reference', { amount: 5, reference: 'x'.repeat(201) }],
    ['reference', { amount: 5, reference: 'a\u0000' }],
    ['note', { amount: 5, reference: 'r', note: 7 }],
    ['kind', { amount: 5, reference: 'r', kind: 'credit' }],
  ])('400: names %s in %j', async (param, body) => {
    expect((await errorOf(await pay(app.organization_id, body), 400)).param).toBe(param);
  });

  test('400: more than a number holds exactly', async () => {
    const { id } = await organizations.create();
    for (let time = 0; time < 9; time += 1) await paid(id, 1_000_000, `p${time}`);
    const refused = await pay(id, { amount: 10_000, reference: 'more' });
    expect((await errorOf(refused, 400)).param).toBe('amount');
    const line = await organizations.send('PATCH', `/${id}/credit-line`, { amount: 10_000 });
    expect((await errorOf(line, 400)).param).toBe('amount');
    expect((await moneyOf(id)).available).toBe(9_000_000);
  });

  test('404: an unknown organization, of each route', async () => {
    await errorOf(await pay('org_none', { amount: 1, reference: 'r' }), 404);
    await errorOf(await organizations.send('GET', '/org_none/deposits'), 404);
    await errorOf(await organizations.send('GET', '/org_none'), 404);
    await errorOf(await organizations.send('PATCH', '/org_none/credit-line', { amount: 1 }), 404);
  });

  test('503: a lost database loses nothing, and a repeat books once', async () => {
    const { id } = await organizations.create();
    const { sql } = app.database;
    const body = { amount: 7, reference: 'during the failure' };
    // The server ends every session while the payment is booked.
    const blocker = await sql.reserve();
    await blocker`begin`;
    await blocker`select from organization where id = ${id} for update`;
    const waiting = pay(id, body);
    for (let ended = 0; ended === 0; ) {
      const rows = await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database()`;
      ended = rows.length;
      await Bun.sleep(10);
    }
    expect((await errorOf(await waiting, 503)).retryable).toBe(true);
    await blocker`rollback`;
    blocker.release();
    expect((await moneyOf(id)).available).toBe(0);
    await paid(id, 7, body.reference);
    await paid(id, 7, body.reference);
    expect((await moneyOf(id)).available).toBe(7);
    app.reported.length = 0;
  });
});

describe('credit lines', () => {
  test('200: raised, spent, paid and lowered', async () => {
    const { id } = await organizations.create();
    await paid(id, 5, 'first');
    expect(await lend(id, 20)).toEqual({
      ...{ object: 'credit_line', organization_id: id, currency: 'USD', available: 25 },
      ...{ amount: 20, used: 0, to_return: 0 },
    });
    await spend(id, 15);
    expect(await moneyOf(id)).toEqual({
      ...{ available: 10, deposited: 25, amount: 20, used: 10, to_return: 0 },
    });
    expect(await lend(id, 4)).toMatchObject({ amount: 4, used: 10, to_return: 6, available: 0 });
    await paid(id, 8, 'second');
    expect(await moneyOf(id)).toMatchObject({ available: 2, amount: 4, used: 2, to_return: 0 });
    expect((await listOf(id)).map(({ kind, amount }) => [kind, amount])).toEqual([
      ['credit_return', -6],
      ['payment', 8],
      ['credit_return', -10],
      ['credit', 20],
      ['payment', 5],
    ]);
    expect(await listOf(id, '?kind=credit')).toHaveLength(1);
    const lines = await app.database.sql<{ before: object; after: object }[]>`
      select before, after from audit_log
      where organization_id = ${id} and action = 'credit_line.update' order by seq`;
    expect(lines.map(({ before, after }) => [before, after])).toEqual([
      [{ amount: 0 }, { amount: 20 }],
      [{ amount: 20 }, { amount: 4 }],
    ]);
  });

  test.each([{}, { amount: -1 }, { amount: null }, { amount: 1_000_001 }])(
    '400: %j',
    async (body) => {
      const path = `/${app.organization_id}/credit-line`;
      expect((await errorOf(await organizations.send('PATCH', path, body), 400)).param).toBe(
        'amount',
      );
    },
  );
});

/** Books a charge of `amount_usd` as a task does. */
async function spend(id: string, amount_usd: number): Promise<void> {
  const nano = amount_usd * 1e9;
  const { sql } = app.database;
  const [key, hold, line] = [`key_of_${id}`, Bun.randomUUIDv7(), Bun.randomUUIDv7()];
  await sql.begin(async (tx) => {
    await tx`insert into api_key ${tx({
      ...{ id: key, organization_id: id, name: 'n', key_hash: id, key_prefix: 'sk-' },
      used_nano_usd: nano,
    })}`;
    await tx`insert into hold ${tx({
      ...{ id: hold, key_id: key, organization_id: id, reference: 'task', status: 'settled' },
      ...{ amount_nano_usd: nano, charged_nano_usd: nano, expires_at: new Date('2100-01-01') },
    })}`;
    await tx`insert into usage_line ${tx({
      ...{ id: line, request_id: line, organization_id: id, key_id: key, hold_id: hold },
      ...{ scene: 'video', access_channel: 'platform', model: 'm', model_vendor: 'v' },
      ...{ channel_id: 'c', outcome: 'completed', input_tokens: 0, cached_input_tokens: 0 },
      ...{ cache_write_tokens: 0, output_tokens: 0, estimated: false, charged_nano_usd: nano },
    })}`;
    await tx`update organization set balance_nano_usd = balance_nano_usd - ${nano},
      settled_nano_usd = settled_nano_usd + ${nano} where id = ${id}`;
  });
}

test('P1: for any payments in any order, at once and repeated, each is booked once', async () => {
  const payment = fc.record({
    reference: fc.constantFrom('a', 'b', 'c', 'd'),
    cents: fc.integer({ min: 1, max: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(payment, { minLength: 1, maxLength: 12 }), async (payments) => {
      const { id }: OrganizationRecord = await organizations.create();
      const answers = await Promise.all(
        payments.map(async ({ reference, cents }, n) => {
          const response = await pay(id, { amount: cents / 100, reference }, n);
          await response.text();
          return { reference, cents, status: response.status };
        }),
      );
      const booked = new Map<string, number>();
      for (const { reference, cents, status } of answers) {
        expect([200, 409]).toContain(status);
        if (status !== 200) continue;
        expect(booked.get(reference) ?? cents).toBe(cents);
        booked.set(reference, cents);
      }
      for (const { reference, cents, status } of answers) {
        expect(status).toBe(booked.get(reference) === cents ? 200 : 409);
      }
      const cents = [...booked.values()].reduce((sum, each) => sum + each, 0);
      expect(Math.round((await moneyOf(id)).deposited * 100)).toBe(cents);
      expect(await listOf(id)).toHaveLength(booked.size);
    }),
    { numRuns: 15 },
  );
});
