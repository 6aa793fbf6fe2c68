/**
 * Random histories of calls, tasks, refunds, late settlements, repeats, removals and removals that die. After each step
 * bills, statements, used amounts, balances and lists are those of a plain list of all charges, and
 * the audit finds nothing.
 */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { findImbalances } from '../../../db/ledger/audit.ts';
import {
  beginReading,
  endReading,
  type LinesReading,
  readSlice,
} from '../../../db/ledger/lines-audit.ts';
import { findQuickImbalances } from '../../../db/ledger/quick-audit.ts';
import { readAsOf } from '../../../db/usage/as-of.ts';
import { breakDown } from '../../../db/usage/breakdown.ts';
import { exportCharges } from '../../../db/usage/export.ts';
import { listLines } from '../../../db/usage/lines.ts';
import { readSums } from '../../../db/usage/roll-ups/snapshot.ts';
import { readUsage } from '../../../db/usage/roll-ups/sums.ts';
import { chargesByKey } from '../../../db/usage/statement.ts';
import type { Account } from '../../support/ledger.ts';
import { fc } from '../../support/property.ts';
import { type Charge, DAY_MS, DAYS, openWorld, type RetentionWorld } from './retention-world.ts';

setDefaultTimeout(600_000);

const MONTHS = 8;
const PAGE = 3;

const by = fc.nat(1);
const of = fc.nat(1);
const amount = fc.constantFrom(0, 1, 7, 999, 20_000);
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      ...{ type: fc.constant('call' as const), by, of, amount },
      ...{
        model: fc.constantFrom('a', 'b'),
        tokens: fc.nat(9),
        wait_ms: fc.constantFrom(0, 90_000),
      },
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('hold' as const), of, amount }) },
  {
    weight: 3,
    arbitrary: fc.record({
      ...{ type: fc.constant('end hold' as const), by, at: fc.nat(9), amount: fc.option(amount) },
    }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('repeat' as const), by, at: fc.nat(99) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('refuse' as const), of }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('fold' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('wait' as const),
      ms: fc.constantFrom(1, 3_600_000, DAY_MS, 11 * DAY_MS, 31 * DAY_MS, 45 * DAY_MS),
    }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('sweep' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('sweep and die' as const), after_ms: fc.nat(12) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

async function take(world: RetentionWorld, next: Step): Promise<void> {
  const account = (at: number) => world.accounts[at] as Account;
  switch (next.type) {
    case 'call':
      return world.call(
        next.by,
        account(next.of),
        next.amount,
        next.model,
        next.tokens,
        next.wait_ms,
      );
    case 'hold':
      return world.hold(account(next.of), next.amount);
    case 'end hold':
      return world.endHold(next.by, next.at, next.amount ?? undefined);
    case 'repeat':
      return void (await world.repeat(next.by, next.at));
    case 'refuse':
      return world.refuse(account(next.of));
    case 'fold':
      return world.foldAll();
    case 'wait':
      return world.setNow(world.now + next.ms);
    case 'sweep':
      return world.sweep(DAYS);
    case 'sweep and die':
      return world.sweepAndDie(DAYS, next.after_ms);
    default:
      return next satisfies never;
  }
}

const sum = (charges: readonly Charge[]) =>
  charges.reduce((total, { charged }) => total + charged, 0);
const totals = (charges: readonly Charge[]) => ({
  charges: charges.length,
  charged_nano_usd: sum(charges),
  list_nano_usd: sum(charges) + charges.reduce((total, { overrun }) => total + overrun, 0),
  input_tokens: charges.reduce((total, { tokens }) => total + tokens, 0),
});
const dayOf = ({ at }: Charge) => new Date(at).toISOString().slice(0, 10);

/** Bills, statements and used amounts, compared with the list of charges. */
async function checkSums(world: RetentionWorld): Promise<void> {
  const { sql } = world;
  const as_of = await readAsOf(sql);
  const first = new Date(world.start);
  for (const account of world.accounts) {
    const { organization_id, key_id } = account;
    const own = world.charges.filter((charge) => charge.of === account);
    const bill = await breakDown(sql, { organization_id, key_id }, as_of);
    expect(bill.total).toMatchObject(totals(own));
    expect(bill.lines_since).toBeUndefined();
    const days = Map.groupBy(own, dayOf);
    expect(
      new Map([...bill.groups.day].map(([day, counts]) => [day, counts.charged_nano_usd])),
    ).toEqual(new Map([...days].sort().map(([day, charges]) => [day, sum(charges)])));
    const models = Map.groupBy(own, ({ model }) => model);
    for (const [model, charges] of models) {
      expect(bill.groups.model.get(model)).toMatchObject(totals(charges));
    }
    for (let month = 0; month < MONTHS; month += 1) {
      const at = (more: number) =>
        new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + month + more));
      const span = { from: at(0), until: at(1) };
      const inside = own.filter((charge) => charge.at >= +span.from && charge.at < +span.until);
      const statement = await breakDown(sql, { organization_id, ...span }, as_of);
      expect(statement.total).toMatchObject(totals(inside));
      const [key] = await chargesByKey(sql, organization_id, span, as_of);
      expect(key?.charged_nano_usd ?? 0).toBe(sum(inside));
      expect(key?.requests ?? 0).toBe(inside.length);
    }
    const explored = await readSums(sql, (reader) =>
      readUsage(reader, {
        ...{ filters: { organization_id, outcomes: ['completed'] }, as_of },
        ...{ groups: ['key_id', 'model'], starts: 'utc_days' },
      }),
    );
    expect(explored.reduce((all, { counts }) => all + counts.charged_nano_usd, 0)).toBe(sum(own));
    await checkAccount(world, account, sum(own));
  }
  expect(await findImbalances(sql)).toEqual([]);
  expect(await findQuickImbalances(sql)).toEqual([]);
}

/** Reads a few usage lines for the audit. The end of a reading finds all sums right. */
async function readSome({ sql, charges }: RetentionWorld, reading: LinesReading) {
  const next = await readSlice(sql, reading, 2);
  if (!next.isDone) return next;
  const { verdict, overruns } = await endReading(sql, next);
  expect(verdict).not.toBe('wrong');
  if (verdict === 'right') {
    const absorbed = charges.filter(({ overrun }) => overrun > 0);
    expect(overruns.count).toBe(absorbed.length);
    expect(overruns.amount).toBe(String(absorbed.reduce((all, { overrun }) => all + overrun, 0)));
  }
  return beginReading(sql);
}

/** The balance, the held money and the used amount of an account. */
async function checkAccount(world: RetentionWorld, account: Account, charged: number) {
  const [row] = await world.sql<{ deposited: number; spent: number; used: number; free: number }[]>`
    select deposited_nano_usd as deposited, balance_nano_usd + organization.held_nano_usd - unposted as free,
      settled_nano_usd + unposted as spent, used_nano_usd + unposted as used
    from organization join api_key on organization_id = organization.id cross join (
      select coalesce(sum(settled_nano_usd - posted_nano_usd), 0)::int8 as unposted from quota_grant
      where quota_grant.key_id = ${account.key_id} and status = 'open') as grants
    where api_key.id = ${account.key_id}`;
  const deposited = world.deposited();
  const free = deposited - charged;
  expect({ ...row }).toEqual({ deposited, free, spent: charged, used: charged });
}

/** Lists and exports have all lines since the date that they name, and the lists no earlier ones. */
async function checkLists(world: RetentionWorld): Promise<void> {
  const { sql } = world;
  const as_of = await readAsOf(sql);
  for (const account of world.accounts) {
    const filters = { organization_id: account.organization_id };
    const ids: (string | null)[] = [];
    let since: Date | undefined;
    for (let offset = 0, total = 1; offset < total; offset += PAGE) {
      const page = await listLines(sql, filters, as_of, { offset, limit: PAGE });
      total = page.total;
      since = page.lines_since;
      ids.push(...page.rows.map(({ billing_id }) => billing_id));
    }
    const later = world.charges.filter(
      (charge) => charge.of === account && charge.at >= (since?.getTime() ?? 0),
    );
    expect(ids.sort()).toEqual(later.map(({ id }) => id).sort());
    const exported = (await Array.fromAsync(exportCharges(sql, filters, as_of))).flat();
    const exportedIds = new Set(exported.map(({ billing_id }) => billing_id));
    expect(later.filter(({ id }) => !exportedIds.has(id))).toEqual([]);
  }
}

test('P1, P15: no removal changes a sum, and nothing is charged twice', async () => {
  let removed = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
      const world = await openWorld();
      try {
        let reading = await beginReading(world.sql);
        for (const next of steps) {
          const before = world.closed.length;
          await take(world, next);
          reading = await readSome(world, reading);
          if (world.closed.length === before) continue;
          await checkSums(world);
          await checkLists(world);
        }
        await checkSums(world);
        await checkLists(world);
        // At the end, all months are removed.
        while (world.open.length > 0) await world.endHold(1, 0, 3);
        await world.setNow(world.now + 100 * DAY_MS);
        await world.foldAll();
        for (let month = 0; month < 2 * MONTHS; month += 1) await world.sweep(DAYS);
        for (let at = 0; at < world.ended.length; at += 1) await world.repeat(at % 2, at);
        await checkSums(world);
        await checkLists(world);
        removed += world.closed.reduce((all, { rows }) => all + rows, 0);
      } finally {
        await world.close();
      }
    }),
    { numRuns: 12, interruptAfterTimeLimit: 120_000 },
  );
  expect(removed).toBeGreaterThan(0);
});
