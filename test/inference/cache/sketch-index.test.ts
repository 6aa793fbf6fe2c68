import { expect, test } from 'bun:test';
import { SketchIndex } from '../../../src/inference/cache/sketch-index.ts';
import { fc } from '../../support/property.ts';

/** Few sketches, so that they meet in one slot and come again, and the bounds of whole numbers of 32 bits. */
const sketch = fc.oneof(
  fc.nat(20),
  fc.constantFrom(0, -1, 2 ** 31 - 1, -(2 ** 31)),
  fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
);
const step = fc.oneof(
  fc.record({ do: fc.constant('set' as const), sketch, place: fc.maxSafeNat() }),
  fc.record({ do: fc.constant('delete' as const), sketch }),
);

test('has the same places as a map, whatever is set and deleted', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const index = new SketchIndex();
      const model = new Map<number, number>();
      for (const each of steps) {
        if (each.do === 'set') {
          index.set(each.sketch, each.place);
          model.set(each.sketch, each.place);
        } else {
          index.delete(each.sketch);
          model.delete(each.sketch);
        }
        expect(index.get(each.sketch)).toBe(model.get(each.sketch));
      }
      expect(index.size).toBe(model.size);
      for (const { sketch: asked } of steps) expect(index.get(asked)).toBe(model.get(asked));
    }),
  );
});

test('stays fast, and has no more slots than it needs, while sketches come and go', () => {
  const index = new SketchIndex();
  for (let at = 0; at < 200_000; at += 1) {
    index.set(at, at);
    if (at >= 1_000) index.delete(at - 1_000);
  }
  expect(index.size).toBe(1_000);
  expect(index.slots).toBeLessThanOrEqual(4_096);
  expect(index.get(198_999)).toBeUndefined();
  expect(index.get(199_000)).toBe(199_000);
});
