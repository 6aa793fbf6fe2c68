import { expect, test } from 'bun:test';
import { Places } from '../../../src/inference/cache/places.ts';
import { fc } from '../../support/property.ts';

test('has what was pushed and not cleared, in the order of the places', () => {
  const step = fc.record({
    push: fc.nat({ max: 700 }),
    clear: fc.nat({ max: 700 }),
    from: fc.nat(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 10 }), (steps) => {
      const places = new Places<{ readonly at: number }>();
      const model = new Map<number, { readonly at: number }>();
      let next = 0;
      for (const { push, clear, from } of steps) {
        for (let left = push; left > 0; left -= 1) {
          const value = { at: next };
          expect(places.push(value)).toBe(next);
          model.set(next, value);
          next += 1;
        }
        const begin = model.size === 0 ? 0 : from % model.size;
        for (const at of [...model.keys()].slice(begin, begin + clear)) {
          places.clear(at);
          model.delete(at);
        }
      }
      expect(places.size).toBe(model.size);
      expect([...places]).toEqual([...model.values()]);
      for (const count of [0, 1, 16, 2_000]) {
        expect(places.oldest(count)).toEqual([...model.values()].slice(0, count));
      }
      for (let at = 0; at < next; at += 1) expect(places.get(at)).toBe(model.get(at));
    }),
    { numRuns: 50 },
  );
});

test('gives back the memory of places that are all empty', () => {
  const places = new Places<object>();
  for (let at = 0; at < 100_000; at += 1) {
    places.push({});
    if (at >= 1_000) places.clear(at - 1_000);
  }
  expect(places.size).toBe(1_000);
  expect(places.length).toBeLessThan(2_000);
});
