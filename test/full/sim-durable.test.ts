import { expect, test } from 'bun:test';
import { ADDED_RUNS, FIRST_SEED, RUNS, runManyDurable } from '../sim/many.ts';

const first = FIRST_SEED + RUNS;

test(`P3: durable actors and their live actors are right despite faults and kills, ${ADDED_RUNS} more runs`, async () => {
  const totals = await runManyDurable(ADDED_RUNS, { actors: 3, faults: 0.2, kills: 2 }, first);
  expect(totals.events).toBeGreaterThan(6 * ADDED_RUNS);
  expect(totals.kills).toBeGreaterThan(ADDED_RUNS / 2);
  expect(totals.watched).toBeGreaterThan(2 * ADDED_RUNS);
}, 1_200_000);
