/** Budgets of tags: exact on three replicas, only for calls with the tag, and no state for other tags. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readBudgetedTags } from '../../../db/budgets/rows.ts';
import { connectDatabase, type Database } from '../../../db/client.ts';
import { type Clock, systemClock, systemIdSource } from '../../../src/actors/clock.ts';
import { BudgetedTags } from '../../../src/actors/money/budgeted-tags.ts';
import { Lane } from '../../../src/actors/money/lane.ts';
import { applyMoneyCommands } from '../../../src/actors/money/ledger.ts';
import type { HoldCommand } from '../../../src/actors/money/ledger-commands.ts';
import { Quotas } from '../../../src/actors/money/quotas.ts';
import { usageOf } from '../../sim/calls.ts';
import { makeBudget, readWindows, setDatabaseClock } from '../../support/budgets.ts';
import { grant, hold } from '../../support/ledger.ts';
import { findMoneyFaults } from '../../support/money-faults.ts';
import { hintsTo } from '../../support/money-hints.ts';
import { createTestDatabase } from '../../support/postgres.ts';

setDefaultTimeout(120_000);

let database: Database;
let single: Database;
let drop: () => Promise<void>;
beforeAll(async () => {
  const fresh = await createTestDatabase();
  drop = fresh.drop;
  database = connectDatabase(fresh.url, { pool: 'lane' });
  // Its clock can be set, because it has one connection.
  single = connectDatabase(fresh.url, { pool: 'single' });
});
afterAll(async () => {
  await database.close();
  await single.close();
  await drop();
});

const PRICE = 100;
const CALLERS = 64;
const BLUE = ['team', 'blue'] as const;
const PROD = ['env', 'prod'] as const;
const ask = (wait_ms = 20_000) => ({ amount: PRICE, minimum: () => PRICE, wait_ms });

/** An organization with some keys, on some replicas. */
async function openWorld({ replicas = 1, keys = 1, clock = systemClock, of = database } = {}) {
  const { sql } = of;
  const organization_id = `org_${crypto.randomUUID()}`;
  const funds = 1_000_000;
  await sql`insert into organization (id, name, deposited_nano_usd, balance_nano_usd)
    values (${organization_id}, 'test', ${funds}, ${funds})`;
  await sql`insert into deposit (id, organization_id, amount_nano_usd)
    values (${crypto.randomUUID()}, ${organization_id}, ${funds})`;
  const key_ids = Array.from({ length: keys }, () => `key_${crypto.randomUUID()}`);
  for (const id of key_ids) {
    await sql`insert into api_key (id, organization_id, name, key_hash, key_prefix)
      values (${id}, ${organization_id}, 'test', ${id}, 'sk-')`;
  }
  const budgeted = new BudgetedTags();
  const all: Quotas[] = [];
  const hints = hintsTo(() => all);
  const running = Array.from({ length: replicas }, () => {
    const replica_id = `replica_${crypto.randomUUID()}`;
    const lane = new Lane({ sql, clock: systemClock, hints, onError: () => undefined });
    const quotas = new Quotas({
      ...{ lane, clock, budgeted, ids: systemIdSource, replica_id: () => replica_id },
      ...{ mayAdmit: () => true, onFenced: () => undefined },
    });
    all.push(quotas);
    return { replica_id, quotas };
  });
  for (const { replica_id } of running) {
    await sql`insert into replica (id, lease_until) values (${replica_id}, now() + interval '1 day')`;
  }
  const quotaOf = (n: number, tags?: Record<string, string>) => {
    const id = key_ids[n % keys] ?? '';
    const { quotas } = running[n % replicas] ?? {};
    if (!quotas) throw new Error('no replica');
    return quotas.getOrCreate({ id, organization_id }, tags);
  };
  return {
    ...{ organization_id, key_ids, running, quotaOf, budgeted },
    async budget(tag: readonly [string, string], calls: number) {
      const limited = { organization_id, key_id: null, tag };
      const id = await makeBudget(sql, limited, 'month', calls * PRICE);
      budgeted.replace(organization_id, await readBudgetedTags(sql, organization_id));
      return id;
    },
    /** Makes a call, and returns `served` or the id of its error. */
    async call(n: number, tags?: Record<string, string>): Promise<string> {
      const key_id = key_ids[n % keys] ?? '';
      try {
        const reservation = await quotaOf(n, tags).reserve(ask());
        await Bun.sleep(n % 5);
        await reservation.settle(usageOf(organization_id, key_id), PRICE);
        return 'served';
      } catch (error) {
        return (error as { id?: string }).id ?? String(error);
      }
    },
    /** Returns all grants, checks all sums, and returns the windows. */
    async windows() {
      for (const { quotas } of running) await quotas.close();
      expect(await findMoneyFaults(sql, { memory: running })).toEqual([]);
      return readWindows(sql, organization_id);
    },
  };
}

const count = (results: readonly string[]) =>
  Object.fromEntries(
    [...new Set(results)]
      .toSorted()
      .map((each) => [each, results.filter((r) => r === each).length]),
  );

describe('P2: a budget of a tag for exactly 20 calls', () => {
  test.each([
    ['calls with the tag alone', () => ({ team: 'blue' })],
    [
      'calls with different sets of budgeted tags',
      (n: number) => ({ team: 'blue', ...(n % 2 === 0 ? { env: 'prod' } : {}) }),
    ],
  ])('serves 20 of 64 callers on three replicas: %s', async (_, tagsOf) => {
    const world = await openWorld({ replicas: 3, keys: 2 });
    const id = await world.budget(BLUE, 20);
    await world.budget(PROD, 1_000);
    const results = await Promise.all(
      Array.from({ length: CALLERS }, (__, n) => world.call(n, tagsOf(n))),
    );
    expect(count(results)).toEqual({ quota_exceeded: CALLERS - 20, served: 20 });
    const windows = await world.windows();
    expect(windows.find(({ budget_id }) => budget_id === id)).toMatchObject({
      used: 20 * PRICE,
      held: 0,
    });
  });

  test('does not limit calls without the tag, or with another value', async () => {
    const world = await openWorld({ replicas: 3 });
    const id = await world.budget(BLUE, 0);
    const tags = [undefined, { team: 'red' }, { group: 'blue' }];
    const results = await Promise.all(
      Array.from({ length: 12 }, (_, n) => world.call(n, tags[n % 3])),
    );
    expect(count(results)).toEqual({ served: 12 });
    expect(await world.call(0, { team: 'blue' })).toBe('quota_exceeded');
    expect((await world.windows()).find(({ budget_id }) => budget_id === id)).toMatchObject({
      ...{ used: 0, held: 0 },
    });
  });

  test('limits a call by each of its tags', async () => {
    const world = await openWorld();
    await world.budget(BLUE, 5);
    await world.budget(PROD, 1);
    const both = { team: 'blue', env: 'prod' };
    expect(await world.call(0, both)).toBe('served');
    expect(await world.call(0, both)).toBe('quota_exceeded');
    expect(await world.call(0, { team: 'blue' })).toBe('served');
    const windows = await world.windows();
    expect(windows.map(({ used }) => used).toSorted()).toEqual([PRICE, 2 * PRICE]);
  });
});

test('commands of one transaction count in the budgets of their own keys and tags only', async () => {
  const world = await openWorld({ keys: 2 });
  const { organization_id, key_ids, running } = world;
  const replica_id = running[0]?.replica_id ?? '';
  const { sql } = database;
  const limits = [
    await makeBudget(sql, { organization_id, key_id: key_ids[0] ?? '' }, 'day', 1_000),
    await makeBudget(sql, { organization_id, key_id: key_ids[1] ?? '' }, 'day', 1_000),
    await world.budget(BLUE, 10),
  ];
  const [first, second] = key_ids.map((key_id) => ({ key_id, organization_id, replica_id }));
  if (!first || !second) throw new Error('no key');
  let windows: Awaited<ReturnType<typeof readWindows>> = [];
  const rolledBack = sql.begin(async (tx) => {
    await applyMoneyCommands(tx, [
      { ...grant(first, 10), tags: { team: 'blue' } },
      grant(second, 20),
      { ...(hold(second, 40) as HoldCommand), tags: { team: 'blue', env: 'prod' } },
    ]);
    windows = await readWindows(tx, organization_id);
    throw new Error('no actor has this money');
  });
  await expect(rolledBack).rejects.toThrow('no actor has this money');
  const held = limits.map((id) => windows.find(({ budget_id }) => budget_id === id)?.held);
  expect(held).toEqual([10, 60, 50]);
});

test('the refusal names the tag', async () => {
  const world = await openWorld();
  await world.budget(BLUE, 0);
  await expect(world.quotaOf(0, { team: 'blue' }).reserve(ask())).rejects.toMatchObject({
    id: 'quota_exceeded',
    message: 'The budget of calls with the tag “team: blue” for this month is spent.',
  });
});

describe('state in memory', () => {
  test('tags without a budget make no actor, and those with one make one for each set', async () => {
    const world = await openWorld();
    const plain = world.quotaOf(0);
    expect(world.quotaOf(0, { team: 'blue' })).toBe(plain);
    await world.budget(BLUE, 1);
    const blue = world.quotaOf(0, { team: 'blue' });
    expect(blue).not.toBe(plain);
    expect(world.quotaOf(0, { any: crypto.randomUUID(), team: 'blue' })).toBe(blue);
    expect(world.quotaOf(0, { team: 'red' })).toBe(plain);
    const { quotas } = world.running[0] as (typeof world.running)[number];
    expect(quotas.size).toBe(2);
    // The name shows that there are tags, not which.
    expect(blue.name).toMatch(/^key_[-\w]+:[\da-f]{16}$/);
    expect(quotas.find(blue.name)).toBe(blue);
    expect(quotas.find(plain.name)).toBe(plain);
    await world.windows();
  });

  test('a key has at most 2,000 sets of tags at a time', async () => {
    const world = await openWorld();
    const rows = Array.from({ length: 2_001 }, (_, n) => ({
      ...{ organization_id: world.organization_id, name: 'team', value: String(n) },
    }));
    world.budgeted.replace(world.organization_id, rows);
    for (let n = 0; n < 2_000; n += 1) world.quotaOf(0, { team: String(n) });
    expect(() => world.quotaOf(0, { team: '2000' })).toThrow('sets of tags');
    expect(world.quotaOf(0, { team: '7' }).tags).toEqual({ team: '7' });
    expect(() => world.quotaOf(0, { team: 'other' })).not.toThrow();
  });

  test('a key that is revoked is refused for calls with tags too', async () => {
    const world = await openWorld();
    await world.budget(BLUE, 5);
    const blue = world.quotaOf(0, { team: 'blue' });
    await (await blue.reserve(ask())).settle(usageOf(world.organization_id, blue.key_id), PRICE);
    await database.sql`update api_key set status = 'revoked' where id = ${blue.key_id}`;
    for (const { quotas } of world.running) quotas.onKeyChanged(blue.key_id, 'revoked');
    expect(blue.machine.snapshot.value).toBe('revoked');
    await world.windows();
  });
});

test('a call in flight counts in its day, and the next call with the tag in the new one', async () => {
  const before = Date.parse('2026-10-31T23:59:50Z');
  let offset_ms = 0;
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + offset_ms };
  await setDatabaseClock(single.sql, before);
  const world = await openWorld({ clock, of: single });
  await world.budget(BLUE, 1);
  const tags = { team: 'blue' };
  const early = await world.quotaOf(0, tags).reserve(ask());
  await expect(world.quotaOf(0, tags).reserve(ask(300))).rejects.toMatchObject({
    ...{ id: 'quota_in_flight' },
  });
  offset_ms += 20_000;
  await setDatabaseClock(single.sql, before + 20_000);
  expect(await world.call(0, tags)).toBe('served');
  expect(await world.call(0, tags)).toBe('quota_exceeded');
  await early.settle(usageOf(world.organization_id, world.key_ids[0] ?? ''), PRICE);
  const windows = await world.windows();
  expect(windows.map(({ starts_on, used, held }) => ({ starts_on, used, held }))).toEqual([
    { starts_on: '2026-10-01', used: PRICE, held: 0 },
    { starts_on: '2026-11-01', used: PRICE, held: 0 },
  ]);
});

describe('BudgetedTags', () => {
  const tag = (organization_id: string, name: string, value: string) => ({
    ...{ organization_id, name, value },
  });
  const tags = new BudgetedTags();

  test('finds the tags of an organization, in one order, and no tags of another one', () => {
    tags.replaceAll([
      tag('a', 'x', '1'),
      tag('a', 'x', '2'),
      tag('a', 'm', '1'),
      tag('b', 'y', '1'),
    ]);
    expect(JSON.stringify(tags.of('a', { x: '2', m: '1', y: '1' }))).toBe('{"m":"1","x":"2"}');
    expect(JSON.stringify(tags.of('a', { m: '1', x: '2' }))).toBe('{"m":"1","x":"2"}');
    expect(tags.of('a', { x: '3', y: '1' })).toBeUndefined();
    expect(tags.of('b', { x: '1' })).toBeUndefined();
    expect(tags.of('c', { x: '1' })).toBeUndefined();
    expect(tags.of('a', undefined)).toBeUndefined();
  });

  test('replaces the tags of one organization, and keeps names like __proto__', () => {
    tags.replace('b', []);
    expect(tags.of('b', { y: '1' })).toBeUndefined();
    expect(tags.of('a', { x: '1' })).toEqual({ x: '1' });
    tags.replace('b', [tag('b', '__proto__', 'z'), tag('b', 'constructor', 'z')]);
    const sent = JSON.parse('{"__proto__": "z", "toString": "z"}');
    expect(JSON.stringify(tags.of('b', sent))).toBe('{"__proto__":"z"}');
  });
});
