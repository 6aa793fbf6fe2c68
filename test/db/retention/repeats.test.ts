/** What is repeated after its month was removed happens once, whatever a replica knows of the removal. */
import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { firstIdAt } from '../../../db/housekeeping.ts';
import { findImbalances } from '../../../db/ledger/audit.ts';
import { insertCallRecords } from '../../../db/records/calls.ts';
import { closeMonth } from '../../../db/retention/close.ts';
import {
  count,
  DAY_MS,
  DAYS,
  openFirstMonth,
  passMonth,
  type RetentionWorld,
  refusedCall,
} from './retention-world.ts';

setDefaultTimeout(60_000);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
const world = () => openFirstMonth(cleanups);

async function books({ sql, first }: RetentionWorld) {
  const rows = await sql`
    select balance_nano_usd, organization.held_nano_usd, settled_nano_usd, used_nano_usd,
      (select sum(settled_nano_usd)::int8 from quota_grant) as charged
    from organization join api_key on organization_id = organization.id
    where api_key.id = ${first.key_id}`;
  return rows.map((row) => ({ ...row }));
}

describe('what is repeated after its month was removed', () => {
  test('P1: a charge charges once, on a replica that does not know of the removal', async () => {
    const of = await world();
    await of.call(0, of.first, 70, 'a', 1);
    await of.foldAll();
    await passMonth(of);
    await of.call(0, of.first, 5, 'a', 1);
    // The other replica removes the month.
    await of.sweep(DAYS);
    expect(await count(of, 'usage_line')).toBe(1);
    const before = await books(of);
    expect(await of.repeat(0, 0)).toEqual({
      ...{ type: 'settled', charged: 70, overrun: 0, grant_settled: 75 },
    });
    expect(await of.repeat(1, 0)).toMatchObject({ type: 'settled', charged: 70 });
    expect(await books(of)).toEqual(before);
    expect(await findImbalances(of.sql)).toEqual([]);
  });

  test('P1: a charge that waits while its month is removed charges once', async () => {
    const of = await world();
    await of.call(0, of.first, 70, 'a', 1);
    await of.foldAll();
    await passMonth(of);
    const before = await books(of);
    const third = of.connect();
    cleanups.push(() => third.close());
    const reader = await third.sql.reserve();
    await reader`begin`;
    await reader`select count(*) from usage_line`;
    const closing = closeMonth(of.other_sql, 'usage_line', DAYS);
    // The removal has locked out writers, and waits for the reader.
    await Bun.sleep(300);
    const repeated = of.repeat(0, 0);
    await Bun.sleep(100);
    await reader`commit`;
    reader.release();
    expect(await closing).toMatchObject({ rows: 1 });
    expect(await repeated).toMatchObject({ charged: 70, grant_settled: 70 });
    expect(await books(of)).toEqual(before);
    expect(await count(of, 'usage_line')).toBe(0);
  });

  test('P1: a charge that waits while its month is made is charged', async () => {
    const of = await world();
    // A month that has no partition yet.
    await of.setNow(of.start + 200 * DAY_MS);
    const [from, until] = [of.now - 40 * DAY_MS, of.now + 40 * DAY_MS].map(firstIdAt);
    const maker = await of.other_sql.reserve();
    await maker`begin`;
    await maker`create table made (like usage_line including defaults including constraints)`;
    await maker`lock table usage_line_default in access exclusive mode`;
    const charged = of.call(0, of.first, 70, 'a', 1);
    await Bun.sleep(200);
    await maker.unsafe(`
      alter table usage_line attach partition made for values from ('${from}') to ('${until}')`);
    await maker`commit`;
    maker.release();
    await charged;
    expect(of.charges).toMatchObject([{ charged: 70, overrun: 0 }]);
    expect([await count(of, 'made'), await count(of, 'usage_line')]).toEqual([1, 1]);
    expect(await findImbalances(of.sql)).toEqual([]);
  });

  test('P1: new charges of the same batch are charged, and so are its other commands', async () => {
    const of = await world();
    await of.call(0, of.first, 70, 'a', 1);
    await of.foldAll();
    await passMonth(of);
    await of.sweep(DAYS);
    const [old] = of.ended;
    if (old?.command.type !== 'SETTLE') throw new Error('the first command is a charge');
    const id = Bun.randomUUIDv7('hex', of.now);
    const fresh = { ...old.command, line: { ...old.command.line, id, request_id: id } };
    const answers = await Promise.all([
      of.send(0, old.command),
      of.send(0, fresh),
      of.send(0, old.command),
    ]);
    expect(answers.map((answer) => answer.type)).toEqual(['settled', 'settled', 'settled']);
    expect(answers[2]).toMatchObject({ grant_settled: 140 });
    const mixed = await Promise.all([
      of.hold(of.first, 10).then(() => 'held'),
      of.send(0, old.command).then(({ type }) => type),
    ]);
    expect(mixed).toEqual(['held', 'settled']);
    expect(of.open).toHaveLength(1);
    expect(await findImbalances(of.sql)).toEqual([]);
  });

  test('P1: a hold, its charge and its release end as they ended first', async () => {
    const of = await world();
    await of.hold(of.first, 10);
    await of.endHold(0, 0, 4);
    await of.hold(of.first, 10);
    await of.endHold(0, 0, undefined);
    await of.foldAll();
    await passMonth(of);
    await of.sweep(DAYS);
    const before = await books(of);
    expect(await of.repeat(1, 0)).toMatchObject({ status: 'settled', charged: 4, released: 6 });
    expect(await of.repeat(0, 1)).toMatchObject({ status: 'released', released: 10 });
    expect(await books(of)).toEqual(before);
    expect(await count(of, 'usage_line')).toBe(0);
  });

  test('a late record of a call is left out, and the others are written', async () => {
    const of = await world();
    await passMonth(of);
    await of.sweep(DAYS);
    const [old, now] = [of.start, of.now].map((at) =>
      refusedCall(of.first, Bun.randomUUIDv7('hex', at), at),
    );
    if (!old || !now) throw new Error('two records are needed');
    await insertCallRecords(of.sql, [old, now]);
    expect(await of.sql`select id from call_record`).toEqual([{ id: now.id }] as never);
  });
});
