import { expect, test } from 'bun:test';
import type { Sql } from '../../../db/client.ts';
import { systemClock } from '../../../src/actors/clock.ts';
import { CallRecords } from '../../../src/inference/records/call-records.ts';

/** No call of these tests is written. */
const sql = {} as Sql;
const KEY = { id: 'key', organization_id: 'organization' };
const requestOf = (id: string) => ({ id, arrived_ms: 0, protocol: 'openai', program: 'curl' });

test('the records are idle when the last call has ended or was discarded, and not before', async () => {
  const records = new CallRecords({ sql, clock: systemClock, onError: () => undefined });
  await records.idle();
  const [first, second] = ['1', '2'].map((id) => records.begin(requestOf(id), KEY));
  if (!first || !second) throw new Error('two calls were begun');
  let idle = 0;
  const waits = [1, 2].map(() => records.idle().then(() => (idle += 1)));
  records.discard(first);
  await Bun.sleep(1);
  expect(idle).toBe(0);
  // A call that began meanwhile is waited for, too.
  const third = records.begin(requestOf('3'), KEY);
  records.discard(second);
  await Bun.sleep(1);
  expect(idle).toBe(0);
  records.discard(third);
  await Promise.all(waits);
  expect(idle).toBe(2);
});
