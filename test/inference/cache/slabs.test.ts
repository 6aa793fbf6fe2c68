/** Packed texts: read back as they were, whatever else is packed, moved and forgotten meanwhile. */
import { expect, test } from 'bun:test';
import { type PackedTexts, Slabs, textsOf } from '../../../src/inference/cache/slabs.ts';
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

interface Known {
  packed: PackedTexts;
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
            const packed = slabs.pack(each.pieces, each.text);
            known.push({ packed, texts: [each.pieces.join(''), each.text] });
            continue;
          }
          const at = each.at % Math.max(1, known.length);
          const found = known[at];
          if (!found) continue;
          if (each.type === 'move') found.packed = slabs.move(found.packed);
          else {
            slabs.release(found.packed);
            known.splice(at, 1);
          }
          for (const { packed, texts } of known) expect(textsOf(packed)).toEqual([...texts]);
        }
        for (const { packed, texts } of known) expect(textsOf(packed)).toEqual([...texts]);
      },
    ),
    { numRuns: 300 },
  );
});

test('a character that two pieces share stays whole', () => {
  const slabs = new Slabs(() => 0);
  const [high, low] = ['😀'.slice(0, 1), '😀'.slice(1)];
  expect(textsOf(slabs.pack(['a', high, low, 'b'], 'c'))).toEqual(['a😀b', 'c']);
});

test('memory without texts is used again, so that a store of a constant size takes no new memory', () => {
  const slabs = new Slabs(() => 64 * 1024 * 1024);
  const answer = 'x'.repeat(10_000);
  const seen = new Set<Buffer>();
  const live: PackedTexts[] = [];
  for (let n = 0; n < 2_000; n += 1) {
    const packed = slabs.pack([answer], 'question');
    seen.add(packed.slab.memory);
    live.push(packed);
    if (live.length > 200) slabs.release(live.shift() as PackedTexts);
  }
  // 200 texts of 10 kB need four pieces of memory; one is filled, and one waits.
  expect(seen.size).toBeLessThanOrEqual(6);
});
