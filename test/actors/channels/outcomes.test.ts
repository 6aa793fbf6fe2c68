import { afterAll, beforeAll, expect, test } from 'bun:test';
import { OutcomeRecorder } from '../../../src/actors/channels/outcomes.ts';
import { VirtualClock } from '../../sim/virtual-clock.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';

const clock = new VirtualClock();
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('a flush writes many outcomes at once, and a failed flush loses only its own outcomes', async () => {
  const errors: unknown[] = [];
  let broken = false;
  const { sql } = database;
  const sometimes = ((...args: Parameters<typeof sql>) => {
    if (broken) throw new Error('the database is away');
    return sql(...args);
  }) as typeof sql;
  const outcomes = new OutcomeRecorder({
    ...{
      sql: sometimes,
      clock,
      sceneOf: (model: string) => (model === 'gone' ? undefined : 'tts'),
    },
    onError: (error) => errors.push(error),
  });
  for (let count = 0; count < 50; count += 1) outcomes.record('c', 'tts-1', count % 5 > 0);
  outcomes.record('c', 'gone', true);
  await outcomes.flush();
  broken = true;
  outcomes.record('c', 'tts-1', false);
  expect(await outcomes.flush().catch((error: Error) => error.message)).toContain('away');
  broken = false;
  outcomes.record('c', 'tts-1', true);
  await outcomes.stop();
  const rows = await sql`select succeeded, failed from outcome_minute where scene = 'tts'`;
  expect([...rows]).toEqual([{ succeeded: 41, failed: 10 }]);
});
