/** The days of organizations in PostgreSQL, compared with those of JavaScript, at any change of clocks. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { fc } from '../../support/property.ts';

setDefaultTimeout(120_000);

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Zones whose clocks change at midnight, by half an hour, or that skipped a day, and usual ones. */
const ZONES = [
  ...['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe'],
  ...['America/Havana', 'America/Sao_Paulo', 'America/Asuncion', 'Asia/Beirut', 'Africa/Cairo'],
  ...['America/Santiago', 'Atlantic/Azores', 'Asia/Amman', 'Pacific/Apia', 'Pacific/Kiritimati'],
];
const HOUR_MS = 3_600_000;
const QUARTER_MS = HOUR_MS / 4;
/** From 2008 to 2022: every release of the time zones that is in use agrees about these years. */
const FIRST_MS = Date.UTC(2008, 0, 1);
const LAST_MS = Date.UTC(2022, 0, 1);

const formats = new Map(
  ZONES.map((timeZone) => [timeZone, new Intl.DateTimeFormat('en-CA', { timeZone })]),
);
/** The date in a zone, `YYYY-MM-DD`, by JavaScript. */
const dateIn = (zone: string, ms: number) => formats.get(zone)?.format(ms) ?? '';

/**
 * Instants when the date of a zone changes, to the quarter of an hour: the ends of all days that have no 24 hours, and
 * of some others.
 */
function turns(zone: string): number[] {
  let at = FIRST_MS;
  while (dateIn(zone, at) === dateIn(zone, at - QUARTER_MS)) at += QUARTER_MS;
  const found: number[] = [];
  for (let days = 0; at < LAST_MS; days += 1) {
    let [low, high] = [at + 18 * HOUR_MS, at + 30 * HOUR_MS];
    const date = dateIn(zone, at);
    while (high - low > QUARTER_MS) {
      const middle = low + Math.floor((high - low) / 2 / QUARTER_MS) * QUARTER_MS;
      if (dateIn(zone, middle) === date) low = middle;
      else high = middle;
    }
    if (high - at !== 24 * HOUR_MS || days % 200 === 0) found.push(high);
    at = high;
  }
  return found;
}

async function daysOf(instants: { zone: string; ms: number }[]) {
  return database.sql<
    { zone: string; ms: number; day: string; end_ms: number; next: string; last: string }[]
  >`
    select zone, ms, (at at time zone zone)::date::text as day,
      (extract(epoch from day_end) * 1000)::float8 as end_ms,
      (day_end at time zone zone)::date::text as next,
      ((day_end - interval '1 millisecond') at time zone zone)::date::text as last
    from (
      select zone, ms, to_timestamp(ms / 1000) as at, weir_day_end(to_timestamp(ms / 1000), zone) as day_end
      from json_to_recordset(${JSON.stringify(instants)}::text::json) as input(zone text, ms float8)
    ) as days`;
}

describe('the day of an organization', () => {
  test('ends where JavaScript’s date changes, in every zone and at every change of clocks', async () => {
    const instants = ZONES.flatMap((zone) =>
      turns(zone).flatMap((ms) =>
        [-5 * HOUR_MS, -1, 0, 1, 1_799_999].map((by) => ({ zone, ms: ms + by })),
      ),
    );
    for (const { zone, ms, day, end_ms, next, last } of await daysOf(instants)) {
      const where = `${zone} ${new Date(ms).toISOString()}`;
      expect(`${where} ${day}`).toBe(`${where} ${dateIn(zone, ms)}`);
      expect(end_ms).toBeGreaterThan(ms);
      expect(`${where} ${last} ${next > day}`).toBe(`${where} ${day} true`);
      expect(`${where} ${next}`).toBe(`${where} ${dateIn(zone, end_ms)}`);
    }
  });

  test('of any instant ends once, in any zone of the database', async () => {
    const zones = await database.sql<{ name: string }[]>`
      select name from pg_timezone_names where name !~ '^(posix|right|Etc)|localtime|Factory' order by name`;
    const instant = fc.record({
      zone: fc.constantFrom(...zones.map(({ name }) => name)),
      ms: fc.integer({ min: Date.UTC(2012, 0, 1), max: Date.UTC(2037, 0, 1) }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(instant, { minLength: 200, maxLength: 400 }), async (instants) => {
        for (const { zone, ms, day, end_ms, next, last } of await daysOf(instants)) {
          const where = `${zone} ${new Date(ms).toISOString()}`;
          expect(`${where} ${last} ${next > day}`).toBe(`${where} ${day} true`);
          expect(end_ms - ms).toBeGreaterThan(0);
          expect(end_ms - ms).toBeLessThanOrEqual(26 * HOUR_MS);
        }
      }),
      { numRuns: 25 },
    );
  });
});
