import { expect, test } from 'bun:test';
import type { RequestPlace } from '../../../src/inference/cache/canonical-request.ts';
import { Places } from '../../../src/inference/cache/places.ts';
import { fc } from '../../support/property.ts';

/** Another object each time, as each call has one of its own. */
const placeOf = (model_id: string): RequestPlace => ({
  ...{ scope: 'org_1', kind: 'openai', version: 'v', headers: {} },
  model_id,
});

test('each request has the place that was noted for it, until it is released', () => {
  const step = fc.record({ model: fc.constantFrom('a', 'a', 'a', 'b'), release: fc.nat(8) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const places = new Places();
      const held: { number: number; model: string }[] = [];
      for (const { model, release } of steps) {
        held.push({ number: places.take(placeOf(model)), model });
        const [released] = release % 3 === 0 ? held.splice(release, 1) : [];
        if (released) places.release(released.number);
        for (const each of held) expect(places.get(each.number)).toEqual(placeOf(each.model));
      }
      for (const { number } of held) places.release(number);
      for (const { number } of held) expect(places.get(number)).toBeUndefined();
    }),
  );
});

test('requests one after the other with the same place have one object', () => {
  const places = new Places();
  const first = places.take(placeOf('a'));
  expect(places.take(placeOf('a'))).toBe(first);
  expect(places.take(placeOf('b'))).not.toBe(first);
});
