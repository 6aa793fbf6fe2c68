import { expect, test } from 'bun:test';
import { Rows } from '../../../src/inference/cache/rows.ts';
import { fc } from '../../support/property.ts';

const COLUMNS = 3;

/** Takes a row, and writes its own number into each of its columns. */
function push(rows: Rows): number {
  const at = rows.push();
  rows.numbers.fill(at, rows.offset(at), rows.offset(at) + COLUMNS);
  return at;
}

test('has the rows that were taken and not freed, in their order, with their numbers', () => {
  const step = fc.record({
    push: fc.nat({ max: 700 }),
    free: fc.nat({ max: 700 }),
    from: fc.nat(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 10 }), (steps) => {
      const rows = new Rows(COLUMNS);
      const model = new Set<number>();
      let next = 0;
      for (const { push: pushed, free, from } of steps) {
        for (let left = pushed; left > 0; left -= 1) {
          expect(push(rows)).toBe(next);
          model.add(next);
          next += 1;
        }
        const begin = model.size === 0 ? 0 : from % model.size;
        for (const at of [...model].slice(begin, begin + free)) {
          rows.free(at);
          model.delete(at);
        }
      }
      expect(rows.size).toBe(model.size);
      expect(rows.all()).toEqual([...model]);
      for (const count of [0, 1, 16, 2_000]) {
        expect(rows.oldest(count)).toEqual([...model].slice(0, count));
      }
      for (const at of model) {
        const from = rows.offset(at);
        expect([...rows.numbers.subarray(from, from + COLUMNS)]).toEqual([at, at, at]);
      }
    }),
    { numRuns: 50 },
  );
});

test('uses freed rows again', () => {
  const rows = new Rows(COLUMNS);
  for (let at = 0; at < 100_000; at += 1) {
    push(rows);
    if (at >= 1_000) rows.free(at - 1_000);
  }
  expect(rows.size).toBe(1_000);
  expect(rows.length).toBe(1_000);
  expect(rows.numbers.length).toBe(1_024 * COLUMNS);
});

test('gives memory back when most rows are free', () => {
  const rows = new Rows(COLUMNS);
  for (let at = 0; at < 50_000; at += 1) push(rows);
  for (let at = 0; at < 49_990; at += 1) rows.free(at);
  expect(rows.all()).toEqual(Array.from({ length: 10 }, (_, at) => 49_990 + at));
  expect(rows.numbers.length).toBeLessThanOrEqual(64 * COLUMNS);
});
