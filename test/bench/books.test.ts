import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { flawOfCall } from '../../bench/answers.ts';
import { auditRun, SimulatorBooks } from '../../bench/books.ts';
import { chatChannel, ROLES, targetOf, WEIR_ACCOUNT } from '../../bench/contenders.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { startWeir } from '../support/weir.ts';

setDefaultTimeout(60_000);

let simulator: RunningSimulator;
let database: TestDatabase;
let books: SimulatorBooks;

/**
 * A short run: two measurements of calls and streams, whose calls are all equal. After each comes a
 * late call, as Weir makes it for a client that left at the end of the measurement.
 */
beforeAll(async () => {
  [simulator, database] = await Promise.all([startSimulator(), createTestDatabase()]);
  const weir = await startWeir({
    config: JSON.stringify({ channels: [chatChannel(simulator.url)], roles: ROLES }),
    env: { DATABASE_URL: database.url },
  });
  books = new SimulatorBooks(simulator.url, WEIR_ACCOUNT);
  for (const stream of [false, true]) {
    await books.during(async () => {
      const flaws = await Promise.all(
        Array.from({ length: 10 }, () => flawOfCall(targetOf(weir, stream), stream)),
      );
      expect(flaws).toEqual(flaws.map(() => undefined));
    });
    expect(await flawOfCall(targetOf(weir, stream), stream)).toBeUndefined();
  }
  books.answers = 22;
  await weir.stop();
});
afterAll(async () => {
  await simulator.stop();
  await database.drop();
});

/** The audit after a change of the database, which is taken back. */
async function auditAfter(plant: string): Promise<boolean> {
  const { sql } = database;
  await sql.unsafe('create table kept as select * from usage_line');
  await sql.unsafe(plant);
  const { agree } = await auditRun(books, sql);
  await sql.unsafe('truncate usage_line');
  await sql.unsafe('insert into usage_line select * from kept');
  await sql.unsafe('drop table kept');
  return agree;
}

describe('the books of a benchmark', () => {
  test('agree if each answer is charged once, at its price', async () => {
    const { text, agree } = await auditRun(books, database.sql);
    expect(text).toContain('received 22 calls of Weir. Weir charged 22 complete answers');
    expect(agree).toBe(true);
  });

  const ONE = '(select id from usage_line order by id limit 1)';
  test.each([
    ['an answer is not charged', `delete from usage_line where id = ${ONE}`],
    [
      'an answer is charged twice',
      `insert into usage_line select (jsonb_populate_record(usage_line, jsonb_build_object('id',
        gen_random_uuid()))).* from usage_line where id = ${ONE}`,
    ],
    [
      'one charge is a nano-USD too low, and another as much too high',
      `update usage_line set charged_nano_usd = charged_nano_usd + case when id = ${ONE} then 1
        else -1 end where id in (select id from usage_line order by id limit 2)`,
    ],
    [
      'the tokens are wrong and the price is right',
      `update usage_line set output_tokens = 21 where id = ${ONE}`,
    ],
    [
      'what was delivered is charged as a part',
      `update usage_line set outcome = 'partial', estimated = true where id = ${ONE}`,
    ],
  ])('differ, so that the run fails, if %s', async (_, plant) => {
    expect(await auditAfter(plant)).toBe(false);
    expect((await auditRun(books, database.sql)).agree).toBe(true);
  });
});
