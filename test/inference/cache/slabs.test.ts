/** Packed texts: read back as they were, whatever else is packed, moved and forgotten meanwhile. */
import { expect, test } from 'bun:test';
import {
  releaseTexts,
  type Slab,
  Slabs,
  type TextHolder,
  textsOf,
} from '../../../src/inference/cache/slabs.ts';
import { fc } from '../../support/property.ts';

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 40 }).filter((each) => each.isWellFormed()),
  fc.integer({ min: 0, max: 20_000 }).map((length) => 'é'.repeat(length)),
  fc.integer({ min: 0, max: 20_000 }).map((length) => 'x'.repeat(length)),
);
const step = fc.oneof(
  fc.record({ type: fc.constant('pack' as const), pieces: fc.array(text, { maxLength: 4 }), text }),
  fc.record({ type: fc.constantFrom('move' as const, 'release' as const), at: fc.nat(20) }),
);

/** Something without texts. */
const newHolder = (): TextHolder => ({ slab: undefined, from: 0, middle: 0, until: 0 });

interface Known {
  readonly holder: TextHolder;
  readonly texts: readonly [string, string];
}

test('all packed texts can be read until they are released', () => {
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 1, maxLength: 60 }),
      fc.nat(8_000_000),
      (steps, in_use) => {
        const slabs = new Slabs(() => in_use);
        const known: Known[] = [];
        for (const each of steps) {
          if (each.type === 'pack') {
            const holder = newHolder();
            slabs.pack(holder, each.pieces, each.text);
            known.push({ holder, texts: [each.pieces.join(''), each.text] });
            continue;
          }
          const at = each.at % Math.max(1, known.length);
          const found = known[at];
          if (!found) continue;
          if (each.type === 'move') slabs.move(found.holder);
          else {
            releaseTexts(found.holder);
            expect(textsOf(found.holder)).toBeUndefined();
            known.splice(at, 1);
          }
          for (const { holder, texts } of known) expect(textsOf(holder)).toEqual([...texts]);
        }
        for (const { holder, texts } of known) expect(textsOf(holder)).toEqual([...texts]);
      },
    ),
    { numRuns: 300 },
  );
});

test('a character that two pieces share stays whole', () => {
  const slabs = new Slabs(() => 0);
  const [high, low] = ['😀'.slice(0, 1), '😀'.slice(1)];
  const holder = newHolder();
  slabs.pack(holder, ['a', high, low, 'b'], 'c');
  expect(textsOf(holder)).toEqual(['a😀b', 'c']);
});

test('memory without texts is used again, so that a store of a constant size takes no new memory', () => {
  const slabs = new Slabs(() => 64 * 1024 * 1024);
  const answer = 'x'.repeat(10_000);
  const seen = new Set<Slab['memory']>();
  const live: TextHolder[] = [];
  for (let n = 0; n < 2_000; n += 1) {
    const holder = newHolder();
    slabs.pack(holder, [answer], 'question');
    if (holder.slab) seen.add(holder.slab.memory);
    live.push(holder);
    if (live.length > 200) releaseTexts(live.shift() as TextHolder);
  }
  // 200 texts of 10 kB need four pieces of memory; one is filled, and one waits.
  expect(seen.size).toBeGreaterThan(0);
  expect(seen.size).toBeLessThanOrEqual(6);
});
