/** Deposits, credit lines and the status of organizations: what the ledger makes of them (P1, P2). */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { findImbalances } from '../../../db/ledger/audit.ts';
import { systemIdSource } from '../../../src/actors/clock.ts';
import type { LedgerAnswer, LedgerCommand } from '../../../src/actors/money/ledger-commands.ts';
import {
  type Account,
  FUNDS,
  grant,
  hold,
  line,
  openLedger,
  type TestLedger,
} from '../../support/ledger.ts';
import { fc } from '../../support/property.ts';

setDefaultTimeout(60_000);

let ledger: TestLedger;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());

const submit = (command: LedgerCommand) => ledger.lane.submit(command);
const credit = ({ organization_id }: Account, limit: number) =>
  submit({ type: 'CREDIT', organization_id, limit });
const deposit = ({ organization_id }: Account, amount: number) =>
  submit({
    ...{ type: 'DEPOSIT', deposit_id: systemIdSource.uuid(), organization_id, amount, note: '' },
  });

async function creditOf({ organization_id }: Account) {
  const [row] = await ledger.database.sql<{ line: number; credit: number; balance: number }[]>`
    select credit_limit_nano_usd as line, credit_nano_usd as credit, balance_nano_usd as balance
    from organization where id = ${organization_id}`;
  return { ...row };
}

async function depositsOf({ organization_id }: Account) {
  const rows = await ledger.database.sql<{ kind: string; amount: number }[]>`
    select kind, amount_nano_usd as amount from deposit
    where organization_id = ${organization_id} order by created_at, id`;
  return rows.map(({ kind, amount }) => [kind, amount]);
}

const setStatus = ({ organization_id }: Account, status: string) =>
  ledger.database.sql`update organization set status = ${status} where id = ${organization_id}`;

describe('a credit line', () => {
  test('is a deposit; a repeat and the same line change nothing', async () => {
    const of = await ledger.account();
    await credit(of, 400);
    await credit(of, 400);
    expect(await creditOf(of)).toEqual({ line: 400, credit: 400, balance: FUNDS + 400 });
    expect(await depositsOf(of)).toEqual([
      ['payment', FUNDS],
      ['credit', 400],
    ]);
    await ledger.books(of);
  });

  test('a payment restores what was spent of it, and does not end it', async () => {
    const of = await ledger.account();
    await credit(of, 400);
    const hold_id = systemIdSource.uuid();
    await submit(hold(of, 1_300, hold_id));
    await submit({ type: 'SETTLE_HOLD', hold_id, line: line(of, 1_300) });
    expect(await creditOf(of)).toEqual({ line: 400, credit: 400, balance: 100 });
    await deposit(of, 300);
    expect(await creditOf(of)).toEqual({ line: 400, credit: 400, balance: 400 });
  });

  test('P2: lowered, it takes back only what is free; what becomes free later, later', async () => {
    const of = await ledger.account();
    await credit(of, 500);
    const [kept, spent] = [systemIdSource.uuid(), systemIdSource.uuid()];
    await submit(hold(of, 600, kept));
    await submit(hold(of, 700, spent));
    await credit(of, 0);
    expect(await creditOf(of)).toEqual({ line: 0, credit: 300, balance: 0 });
    await submit({ type: 'RELEASE_HOLD', hold_id: kept });
    expect(await creditOf(of)).toEqual({ line: 0, credit: 0, balance: 300 });
    await submit({ type: 'SETTLE_HOLD', hold_id: spent, line: line(of, 700) });
    expect(await creditOf(of)).toEqual({ line: 0, credit: 0, balance: 300 });
    expect((await depositsOf(of)).slice(1)).toEqual([
      ['credit', 500],
      ['credit_return', -200],
      ['credit_return', -300],
    ]);
    await ledger.books(of);
  });

  test('lowered below what is owed, a payment repays it first', async () => {
    const of = await ledger.account();
    await credit(of, 500);
    const hold_id = systemIdSource.uuid();
    await submit(hold(of, 1_500, hold_id));
    await submit({ type: 'SETTLE_HOLD', hold_id, line: line(of, 1_500) });
    await credit(of, 100);
    expect(await creditOf(of)).toEqual({ line: 100, credit: 500, balance: 0 });
    await deposit(of, 450);
    expect(await creditOf(of)).toEqual({ line: 100, credit: 100, balance: 50 });
    await ledger.books(of);
  });

  test('lowered, it recalls the unused grants of the organization, once', async () => {
    const of = await ledger.account();
    await credit(of, 500);
    const ask = grant(of, 1_400);
    await submit(ask);
    const before = ledger.hints.length;
    await credit(of, 0);
    const recalls = ledger.hints.slice(before).flatMap((hints) => hints.recalls);
    expect(recalls).toMatchObject([{ organization_id: of.organization_id, key_id: null }]);
    await submit({
      ...{ type: 'RETURN', ...of, grant_id: ask.grant_id, expected_granted: 1_400 },
      ...{ amount: 1_400, recall_acked: recalls[0]?.seq ?? 0, close: true },
    });
    expect(await creditOf(of)).toEqual({ line: 0, credit: 0, balance: FUNDS });
    await ledger.books(of);
  });

  test('the database refuses free credit above the line, and a negative balance', async () => {
    const of = await ledger.account();
    await credit(of, 500);
    const { sql } = ledger.database;
    const change = async (assignment: string) =>
      sql.unsafe(`update organization set ${assignment} where id = '${of.organization_id}'`);
    expect(change('credit_limit_nano_usd = 499')).rejects.toThrow('credit_above_its_line');
    expect(change('credit_nano_usd = -1')).rejects.toThrow('credit_never_negative');
    const bare = { id: systemIdSource.uuid(), organization_id: of.organization_id };
    const minus = sql`insert into deposit ${sql({ ...bare, amount_nano_usd: -1 })}`;
    expect((async () => minus)()).rejects.toThrow('only_returned_credit_is_negative');
  });

  test('the audit finds credit that no deposit explains', async () => {
    const of = await ledger.account();
    await credit(of, 500);
    const { sql } = ledger.database;
    const { organization_id: id } = of;
    const move = (nano_usd: number) =>
      sql`update organization set credit_nano_usd = credit_nano_usd - ${nano_usd} where id = ${id}`;
    await move(1);
    expect(await findImbalances(sql)).toEqual([{ what: 'organization credit', id, nano_usd: -1 }]);
    await move(-1);
  });
});

test.each(['suspended', 'closed'] as const)(
  'a %s organization gets no money for new work; work that runs is charged',
  async (status) => {
    const of = await ledger.account();
    const hold_id = systemIdSource.uuid();
    const ask = grant(of, 300);
    await submit(ask);
    await submit(hold(of, 300, hold_id));
    await setStatus(of, status);
    const refused: LedgerAnswer = { type: 'key_unusable', status: `organization_${status}` };
    expect(await submit(grant(of, 1))).toEqual(refused);
    expect(await submit(hold(of, 1))).toEqual(refused);
    await submit({ type: 'SETTLE', line: { ...line(of, 100), grant_id: ask.grant_id } });
    const more = { ...ask, expected_granted: 300, need: 50, want: 50, for_overrun: true };
    expect(await submit(more)).toMatchObject({ type: 'granted', granted: 350 });
    expect(await submit({ type: 'SETTLE_HOLD', hold_id, line: line(of, 250) })).toMatchObject({
      ...{ type: 'hold_ended', charged: 250, released: 50 },
    });
    await setStatus(of, 'active');
    expect(await submit(hold(of, 1))).toEqual({ type: 'held' });
    await ledger.books(of);
  },
);

type Step =
  | { do: 'deposit' | 'credit' | 'grant' | 'hold'; amount: number }
  | { do: 'settle' | 'settle hold'; amount: number; pick: number }
  | { do: 'return' | 'release'; pick: number }
  | { do: 'suspend' | 'reactivate' };

const amount = fc.integer({ min: 1, max: 900 });
const pick = fc.nat(1_000);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constantFrom('deposit', 'credit', 'grant', 'hold'), amount }),
  fc.record({ do: fc.constant('credit' as const), amount: fc.constantFrom(0, 0, 300) }),
  fc.record({ do: fc.constantFrom('settle', 'settle hold'), amount, pick }),
  fc.record({ do: fc.constantFrom('return', 'release'), pick }),
  fc.record({ do: fc.constantFrom('suspend', 'reactivate') }),
) as fc.Arbitrary<Step>;

/** What the books must say, computed without the database. */
class Model {
  paid = FUNDS;
  line = 0;
  credit = 0;
  settled = 0;
  active = true;
  readonly grants: { id: string; granted: number; settled: number }[] = [];
  readonly holds: { id: string; amount: number }[] = [];

  get held(): number {
    const granted = this.grants.reduce((sum, each) => sum + each.granted - each.settled, 0);
    return granted + this.holds.reduce((sum, each) => sum + each.amount, 0);
  }

  get balance(): number {
    return this.paid + this.credit - this.held - this.settled;
  }

  /** Credit follows its line: up at once, down as far as money is free. */
  follow(): void {
    const above = this.credit - this.line;
    this.credit -= above > 0 ? Math.min(above, this.balance) : above;
  }
}

async function take(model: Model, of: Account, next: Step): Promise<void> {
  const { organization_id } = of;
  switch (next.do) {
    case 'deposit':
      await deposit(of, next.amount);
      model.paid += next.amount;
      break;
    case 'credit':
      await credit(of, next.amount);
      model.line = next.amount;
      break;
    case 'suspend':
    case 'reactivate':
      await setStatus(of, next.do === 'suspend' ? 'suspended' : 'active');
      model.active = next.do === 'reactivate';
      break;
    case 'grant': {
      const replica_id = `replica_${crypto.randomUUID()}`;
      await ledger.database.sql`
        insert into replica (id, lease_until) values (${replica_id}, now() + interval '1 h')`;
      const ask = grant({ ...of, replica_id }, next.amount);
      const answer = await submit(ask);
      if (!model.active) expect(answer).toMatchObject({ status: 'organization_suspended' });
      else if (next.amount > model.balance) expect(answer.type).toMatch(/short|contended/);
      else {
        expect(answer).toMatchObject({ type: 'granted', granted: next.amount });
        model.grants.push({ id: ask.grant_id, granted: next.amount, settled: 0 });
      }
      break;
    }
    case 'hold': {
      const hold_id = systemIdSource.uuid();
      const answer = await submit(hold(of, next.amount, hold_id));
      if (!model.active) expect(answer).toMatchObject({ status: 'organization_suspended' });
      else if (next.amount > model.balance) expect(answer.type).toMatch(/short|contended/);
      else {
        expect(answer).toEqual({ type: 'held' });
        model.holds.push({ id: hold_id, amount: next.amount });
      }
      break;
    }
    case 'settle': {
      const paying = model.grants[next.pick % model.grants.length];
      if (!paying) break;
      const charged = Math.min(next.amount, paying.granted - paying.settled);
      await submit({ type: 'SETTLE', line: { ...line(of, charged), grant_id: paying.id } });
      paying.settled += charged;
      model.settled += charged;
      break;
    }
    case 'settle hold': {
      const [ended] = model.holds.splice(next.pick % (model.holds.length || 1), 1);
      if (!ended) break;
      // The hold is out of the model, so its amount is in the balance.
      const payable = model.balance;
      await submit({ type: 'SETTLE_HOLD', hold_id: ended.id, line: line(of, next.amount) });
      model.settled += Math.min(next.amount, payable);
      break;
    }
    case 'return': {
      const [ended] = model.grants.splice(next.pick % (model.grants.length || 1), 1);
      if (!ended) break;
      await submit({
        ...{ type: 'RETURN', ...of, organization_id, grant_id: ended.id, recall_acked: 0 },
        ...{ expected_granted: ended.granted, amount: ended.granted - ended.settled, close: true },
      });
      break;
    }
    case 'release': {
      const [ended] = model.holds.splice(next.pick % (model.holds.length || 1), 1);
      if (ended) await submit({ type: 'RELEASE_HOLD', hold_id: ended.id });
      break;
    }
    default:
      next satisfies never;
  }
  model.follow();
}

test('P1, P2: for any order of deposits, credit, charges and suspensions the books balance', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const of = await ledger.account();
      const model = new Model();
      for (const next of steps) {
        await take(model, of, next);
        const { line: limit, credit: lent, balance } = model;
        expect(await creditOf(of)).toEqual({ line: limit, credit: lent, balance });
      }
      // Checks all sums of all accounts (P1), and that each usage line is in the sums of its key.
      const { used } = await ledger.books(of);
      const [unposted] = await ledger.database.sql<{ nano_usd: number }[]>`
        select coalesce(sum(settled_nano_usd - posted_nano_usd), 0)::int8 as nano_usd
        from quota_grant where status = 'open' and organization_id = ${of.organization_id}`;
      expect((used ?? 0) + (unposted?.nano_usd ?? 0)).toBe(model.settled);
    }),
    { numRuns: 40 },
  );
});
