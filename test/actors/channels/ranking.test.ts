/** Checks the ranking of every minute of 30 hours. The test sets the database's clock. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { connectDatabase, type Database } from '../../../db/client.ts';
import { addOutcomes, deleteOldOutcomes } from '../../../db/health/outcomes.ts';
import { RankingCache } from '../../../src/actors/channels/ranking.ts';
import { builtInModels } from '../../../src/catalogue/built-in.ts';
import { Catalogue } from '../../../src/catalogue/catalogue.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';

setDefaultTimeout(60_000);

const START = Date.parse('2026-11-20T00:00:30Z');
const MINUTE = 60_000;
const MIN_SAMPLES = 20;
/**
 * The hours that the test covers. They are more than the window, so that outcomes leave the window.
 */
const HOURS = 30;
const models = new Catalogue(builtInModels()).all();
const images = models.filter(({ category }) => category === 'image').map(({ id }) => id);

let database: TestDatabase;
let replicas: Database[];
beforeAll(async () => {
  database = await createTestDatabase();
  replicas = [0, 1].map(() => connectDatabase(database.url, { pool: 'single' }));
});
afterAll(async () => {
  for (const replica of replicas) await replica.close();
  await database.drop();
});

let now = START;
async function setNow(ms: number): Promise<void> {
  now = ms;
  const text = new Date(ms).toISOString();
  for (const { sql } of replicas) await sql`select set_config('weir.now', ${text}, false)`;
}

const clock = { now: () => now, after: () => () => undefined };
const rankingOn = (replica: number) =>
  new RankingCache({
    ...{ sql: (replicas[replica] as Database).sql, clock, models: () => models },
    min_samples: () => MIN_SAMPLES,
    onError: (error) => {
      throw error;
    },
  });

interface OutcomesOfMinute {
  minute: number;
  model: string;
  succeeded: number;
  failed: number;
}

/** Calculates the ranking from all outcomes, in another way than Weir does. */
function expected(outcomes: readonly OutcomesOfMinute[]) {
  const from = Math.floor(now / MINUTE) - 24 * 60;
  const sums = new Map<string, { good: number; all: number }>();
  for (const { minute, model, succeeded, failed } of outcomes) {
    if (minute <= from) continue;
    const sum = sums.get(model) ?? { good: 0, all: 0 };
    sums.set(model, { good: sum.good + succeeded, all: sum.all + succeeded + failed });
  }
  return new Map(
    images.map((id) => {
      const { good, all } = sums.get(id) ?? { good: 0, all: 0 };
      const rate = all === 0 ? 0 : Math.round((good / all) * 10_000) / 10_000;
      return [id, { samples: all, success_rate: rate, ready: all >= MIN_SAMPLES }];
    }),
  );
}

test('P14: in each minute of more than a day, every replica has the ranking of the stored outcomes', async () => {
  const outcomes: OutcomesOfMinute[] = [];
  let latest = [rankingOn(0), rankingOn(1)];
  let checks = 0;
  for (let minute = 0; minute < HOURS * 60; minute += 1) {
    await setNow(START + minute * MINUTE);
    // Some minutes have no outcomes, and models differ in their active minutes.
    const busy = images.filter((_, at) => (minute * 7 + at * 13) % (11 + at) === 0);
    const rows = busy.map((model, at) => ({
      ...{ channel_id: `channel-${at % 2}`, model, scene: 'image' },
      succeeded: (minute + at) % 5,
      failed: Math.floor(minute / 400) % 3 === at % 3 ? 3 : 0,
    }));
    await addOutcomes((replicas[minute % 2] as Database).sql, rows);
    outcomes.push(...rows.map((row) => ({ ...row, minute: Math.floor(now / MINUTE) })));
    // One replica restarts.
    if (minute === 1_000) latest = [rankingOn(0), latest[1] as RankingCache];
    const before = latest.map((each) => each.latest);
    await Promise.all(latest.map((each) => each.refresh()));
    // The replica that did not build the ranking reads it at its next refresh.
    const late = latest.filter(
      (each, at) => each.latest === before[at] || each.latest.updated_at.getTime() !== now,
    );
    await Promise.all(late.map((each) => each.refresh()));
    const right = expected(outcomes);
    for (const each of latest) {
      expect(each.latest.updated_at.getTime()).toBe(now);
      const ranked = each.latest.ranking.image ?? [];
      const figures = ranked.map(({ model, samples, success_rate, ready }) => ({
        ...{ model, samples, success_rate, ready },
      }));
      const wanted = ranked.map(({ model }) => ({ model, ...right.get(model) }));
      // The test makes one comparison for each minute. One for each model would take most of the
      // time.
      expect({ minute, figures }).toEqual({ minute, figures: wanted as typeof figures });
      checks += ranked.length;
    }
  }
  expect(checks).toBe(HOURS * 60 * 2 * images.length);
  await setNow(START + 10 * 24 * 60 * MINUTE);
  expect(await deleteOldOutcomes((replicas[0] as Database).sql, 100_000)).toBeGreaterThan(0);
  expect(await deleteOldOutcomes((replicas[0] as Database).sql, 100_000)).toBe(0);
});
